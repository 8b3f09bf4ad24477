import { GatewayError } from '../../ir/errors.ts';
import type { Event } from '../../ir/events.ts';
import { laterUsage, type Usage } from '../../ir/usage.ts';
import type { Frame } from '../../kit/frames/frames.ts';
import type { ExactNumbers } from '../../kit/json/exact-numbers.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, objectsAt, stringAt, textAt } from '../../kit/json/members.ts';
import type { DecodeContext, StreamDecoder } from '../dialect.ts';
import { endedEarly, noMessage } from '../shared/answers/broken-answers.ts';
import { readFrame, STEP_LIMITS } from '../shared/answers/read-frame.ts';
import { BlockReader } from './decode-content.ts';
import { failureOf, readError } from './error.ts';
import { readFinish, reasonOf } from './finish.ts';
import { readUsage } from './usage.ts';
import { STREAM_EVENTS } from './wire.ts';

export function createDecoder(context: DecodeContext): StreamDecoder {
  const reader = new AnswerReader(context);
  return {
    decode(frame) {
      const event = eventIn(frame, context.request.exactNumbers);
      if (event === undefined) return [];
      return event instanceof GatewayError ? reader.miss(event) : reader.read(event.name, event.value);
    },
    end: () => reader.cut(),
  };
}

interface WireEvent {
  readonly name: string;
  readonly value: JsonObject;
}

/**
 * The event of a frame: named by the frame, or by the only member of its payload. An exception is a failure whatever
 * its payload.
 */
function eventIn(frame: Frame, numbers: ExactNumbers | undefined): WireEvent | GatewayError | undefined {
  const { event } = frame;
  const reading = readFrame(frame, STEP_LIMITS, numbers);
  const isUnreadable = reading instanceof GatewayError;
  if (isUnreadable && (event === undefined || !isException(event))) return reading;
  const value = isUnreadable ? undefined : reading;
  const inner = Object.keys(value ?? {}).find(isEventName);
  if (inner !== undefined && (event === undefined || event === inner || !STREAM_EVENTS.has(event))) {
    const wrapped = objectAt(value, inner);
    if (wrapped !== undefined) return { name: inner, value: wrapped };
  }
  if (event === undefined) return value === undefined ? undefined : { name: '', value };
  return value === undefined && !isException(event) ? undefined : { name: event, value: value ?? {} };
}

function isEventName(name: string): boolean {
  return STREAM_EVENTS.has(name) || isException(name);
}

function isException(name: string): boolean {
  return /exception$/i.test(name);
}

// --- The answer -----------------------------------------------------------------------------------------------------

/** Reads the events of one message, in any order. */
class AnswerReader {
  readonly #blocks: BlockReader;
  /** The event with the stop reason, once it has arrived. */
  #stop: JsonObject | undefined;
  #usage: Usage | undefined;
  #serviceTier: string | undefined;
  #isStarted = false;
  #isEnded = false;

  constructor(context: DecodeContext) {
    this.#blocks = new BlockReader(context);
  }

  read(name: string, value: JsonObject): Event[] {
    if (this.#isEnded) return [];
    switch (name) {
      case 'messageStart':
        return this.#start();
      case 'contentBlockStart':
        return [...this.#start(), ...this.#blocks.start(value)];
      case 'contentBlockDelta':
        return [...this.#start(), ...this.#blocks.delta(value)];
      case 'contentBlockStop':
        return this.#blocks.stop(value);
      case 'messageStop':
        return this.#messageStop(value);
      case 'metadata':
        return this.#metadata(value);
      default:
        return this.#other(name, value);
    }
  }

  readWhole(body: JsonObject): Event[] {
    const content = objectsAt(objectAt(objectAt(body, 'output'), 'message'), 'content');
    return [
      ...this.#start(),
      ...content.flatMap((block) => this.#blocks.whole(block)),
      ...this.#metadata(body),
      ...this.#messageStop(body),
      ...this.cut(),
    ];
  }

  /** The bytes have ended. A stream with a stop reason and without usage counts as complete. */
  cut(): Event[] {
    if (this.#isEnded) return [];
    return this.#stop === undefined ? this.#fail(endedEarly()) : this.#finish(this.#stop);
  }

  /** An event was lost. After the stop reason it cannot have had content. */
  miss(error: GatewayError): Event[] {
    return this.#isEnded || this.#stop !== undefined ? [] : this.#fail(error);
  }

  // --- Start and end ------------------------------------------------------------------------------------------------

  #start(): Event[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    return [{ type: 'start' }];
  }

  /** The usage usually comes after this, as the last event. */
  #messageStop(value: JsonObject): Event[] {
    this.#stop = value;
    const events = [...this.#start(), ...this.#closeBlocks()];
    return this.#usage !== undefined ? [...events, ...this.#finish(value)] : events;
  }

  #metadata(value: JsonObject): Event[] {
    this.#serviceTier = textAt(objectAt(value, 'serviceTier'), 'type') ?? this.#serviceTier;
    const usage = readUsage(value.usage);
    const events: Event[] = usage === undefined ? [] : [this.#usageEvent(usage)];
    return this.#stop === undefined ? events : [...events, ...this.#finish(this.#stop)];
  }

  #usageEvent(reported: Usage): Event {
    this.#usage = laterUsage(this.#usage, reported);
    return { type: 'usage', usage: this.#usage };
  }

  /** Skips unknown events, unless they report a failure. */
  #other(name: string, value: JsonObject): Event[] {
    const isFailure =
      isException(name) || textAt(value, 'message') !== undefined || value.__type !== undefined;
    return isFailure ? this.#fail(failureOf(value, name === '' ? undefined : name)) : [];
  }

  #closeBlocks(): Event[] {
    return this.#blocks.close(reasonOf(stringAt(this.#stop, 'stopReason')) === 'length');
  }

  #finish(stop: JsonObject): Event[] {
    this.#isEnded = true;
    return [...this.#closeBlocks(), readFinish(stop, this.#serviceTier, this.#blocks.hasCalls)];
  }

  #fail(error: GatewayError): Event[] {
    this.#isEnded = true;
    return [{ type: 'failure', error }];
  }
}

// --- Whole bodies ---------------------------------------------------------------------------------------------------

export function decodeBody(body: JsonObject, context: DecodeContext): Event[] {
  if (Array.isArray(objectAt(objectAt(body, 'output'), 'message')?.content)) {
    return new AnswerReader(context).readWhole(body);
  }
  const error = readError(body) === undefined ? noMessage() : failureOf(body);
  return [{ type: 'failure', error }];
}
