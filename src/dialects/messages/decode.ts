import { GatewayError } from '../../ir/errors.ts';
import type { Event } from '../../ir/events.ts';
import { isJsonObject, JSON_LIMITS, type Json, type JsonObject } from '../../kit/json/json.ts';
import { objectAt } from '../../kit/json/members.ts';
import type { DecodeContext, StreamDecoder } from '../dialect.ts';
import { endedEarly, noMessage } from '../shared/answers/broken-answers.ts';
import { readFrame } from '../shared/answers/read-frame.ts';
import { relayedBody } from '../shared/answers/relayed-body.ts';
import { RepeatedFrames, RepeatedRelay } from '../shared/answers/repeated-frames.ts';
import { BlockReader } from './decode-content.ts';
import { failureOf } from './error.ts';
import { readFinish, reasonOf } from './finish.ts';
import { UsageMeter } from './usage.ts';

export function createDecoder(context: DecodeContext): StreamDecoder {
  const reader = new AnswerReader(context);
  const numbers = context.request.exactNumbers;
  const repeated = new RepeatedFrames('text', (value) => objectAt(value, 'delta')?.text);
  let last: Event | undefined;
  return {
    decode(frame) {
      const text = reader.isEnded ? undefined : repeated.textIn(frame);
      if (text !== undefined && last?.type === 'text-delta') {
        const events: Event[] = [{ ...last, text }];
        if (!context.relay) return events;
        return [new RepeatedRelay('messages', frame, events, repeated.template, numbers)];
      }
      const value = reader.isEnded ? undefined : readFrame(frame, JSON_LIMITS, numbers);
      if (value === undefined) return [];
      if (value instanceof GatewayError) return reader.miss(value);
      const events = reader.read(value, frame.event);
      last = repeated.note(frame, value, events);
      if (!context.relay) return events;
      return [{ type: 'relay', dialect: 'messages', frame, value, events, template: repeated.template }];
    },
    end: () => reader.cut(),
  };
}

// --- The answer -----------------------------------------------------------------------------------------------------

/** Reads the events of one message, in any order. */
class AnswerReader {
  readonly #blocks: BlockReader;
  readonly #usage = new UsageMeter();
  /** Members of message_delta's `delta`; later ones win. */
  readonly #stop: JsonObject = {};
  readonly #extras: JsonObject = {};
  #isStarted = false;
  #isEnded = false;
  /** The caller's format is this one: what we do not model goes on to it. */
  readonly #passesOn: boolean;

  constructor(context: DecodeContext) {
    this.#passesOn = context.request.format === 'messages';
    this.#blocks = new BlockReader(context);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Decodes one wire event. `name`: the frame's event name, for servers that leave `type` out. */
  read(value: JsonObject, name?: string): Event[] {
    if (this.#isEnded) return [];
    const type = typeof value.type === 'string' ? value.type : name;
    switch (type) {
      case 'message_start':
        return this.#messageStart(isJsonObject(value.message) ? value.message : {});
      case 'content_block_start':
        return this.#blocks.start(value);
      case 'content_block_delta':
        return this.#blocks.delta(value);
      case 'content_block_stop':
        return this.#blocks.stop(value);
      case 'message_delta':
        return this.#messageDelta(value);
      case 'message_stop':
        return this.#finish();
      case 'error':
        return this.#fail(failureOf(value));
      case 'ping':
      case undefined:
        return isJsonObject(value.error) ? this.#fail(failureOf(value)) : [];
      default:
        if (isJsonObject(value.error)) return this.#fail(failureOf(value));
        return this.#passesOn ? [this.#blocks.unknown(type, value)] : [];
    }
  }

  /** The bytes have ended. A stream with a stop reason and without a stop event counts as complete. */
  cut(): Event[] {
    if (this.#isEnded) return [];
    return typeof this.#stop.stop_reason === 'string' ? this.#finish() : this.#fail(endedEarly());
  }

  /** An event was lost. After the stop reason it cannot have had content. */
  miss(error: GatewayError): Event[] {
    return typeof this.#stop.stop_reason === 'string' ? [] : this.#fail(error);
  }

  // --- Start and end ------------------------------------------------------------------------------------------------

  #messageStart(message: JsonObject): Event[] {
    this.#keep(message);
    return [...this.#start(message), ...this.#readUsage(message.usage, true)];
  }

  #start(message: JsonObject): Event[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    return [
      {
        type: 'start',
        ...(typeof message.id === 'string' && { upstreamId: message.id }),
        ...(typeof message.model === 'string' && { upstreamModel: message.model }),
      },
    ];
  }

  #messageDelta(value: JsonObject): Event[] {
    this.#keep(value);
    for (const [name, member] of Object.entries(isJsonObject(value.delta) ? value.delta : {})) {
      if (STOP_FIELDS.has(name) && member !== null && member !== undefined) this.#stop[name] = member;
    }
    const ended = typeof this.#stop.stop_reason === 'string' ? this.#closeBlocks() : [];
    return [...ended, ...this.#readUsage(value.usage)];
  }

  /** Counts are forwarded as soon as they are known, so that an answer that breaks off keeps them. */
  #readUsage(written: Json | undefined, isOpening = false): Event[] {
    const usage = this.#usage.see(written, isOpening) ? this.#usage.usage() : undefined;
    return usage === undefined ? [] : [{ type: 'usage', usage }];
  }

  #keep(value: JsonObject): void {
    if (isJsonObject(value.container)) this.#stop.container = value.container;
    if (isJsonObject(value.context_management)) this.#extras.context_management = value.context_management;
  }

  #closeBlocks(): Event[] {
    return this.#blocks.close(reasonOf(this.#stop.stop_reason) === 'length');
  }

  #finish(): Event[] {
    const events = this.#closeBlocks();
    const usageExtras = this.#usage.extras();
    const extras = {
      ...this.#extras,
      ...(Object.keys(usageExtras).length > 0 && { usage: usageExtras }),
    };
    events.push(readFinish(this.#stop, extras, this.#usage.serviceTier()));
    this.#isEnded = true;
    return events;
  }

  #fail(error: GatewayError): Event[] {
    this.#isEnded = true;
    return [{ type: 'failure', error }];
  }
}

const STOP_FIELDS: ReadonlySet<string> = new Set([
  'stop_reason',
  'stop_sequence',
  'stop_details',
  'container',
  'safeguard_results',
]);

// --- Whole bodies ---------------------------------------------------------------------------------------------------

export function decodeBody(body: JsonObject, context: DecodeContext): Event[] {
  return relayedBody('messages', body, eventsOf(body, context), context);
}

function eventsOf(body: JsonObject, context: DecodeContext): Event[] {
  if (body.type === 'error' || isJsonObject(body.error)) return [{ type: 'failure', error: failureOf(body) }];
  if (!Array.isArray(body.content)) {
    return [{ type: 'failure', error: noMessage() }];
  }
  const reader = new AnswerReader(context);
  const events: Event[] = [];
  for (const said of asStream(body, body.content)) for (const event of reader.read(said)) events.push(event);
  return events;
}

function* asStream(body: JsonObject, content: readonly Json[]): Iterable<JsonObject> {
  const { usage, ...message } = body;
  const { stop_reason, stop_sequence, stop_details, safeguard_results } = body;
  yield { type: 'message_start', message };
  for (const [index, content_block] of content.entries()) {
    yield { type: 'content_block_start', index, content_block };
    yield { type: 'content_block_stop', index };
  }
  const delta = { stop_reason, stop_sequence, stop_details, safeguard_results };
  yield { type: 'message_delta', delta, usage };
  yield { type: 'message_stop' };
}
