import { GatewayError } from '../../ir/errors.ts';
import type { Event } from '../../ir/events.ts';
import { laterUsage, type Usage } from '../../ir/usage.ts';
import { isJsonObject, JSON_LIMITS, type JsonObject } from '../../kit/json/json.ts';
import { compact, numberAt, objectAt, objectsAt, stringAt } from '../../kit/json/members.ts';
import type { DecodeContext, StreamDecoder } from '../dialect.ts';
import { BrokenAnswer, endedEarly } from '../shared/answers/broken-answers.ts';
import { readFrame } from '../shared/answers/read-frame.ts';
import { relayedBody } from '../shared/answers/relayed-body.ts';
import { type ItemSlot, OutputReader } from './decode-content.ts';
import { failureOf } from './error.ts';
import { readFinish } from './finish.ts';
import { withNamedSeals } from './reasoning.ts';
import { readUsage } from './usage.ts';
import {
  CHANNEL_BY_DELTA,
  CHANNEL_BY_DONE,
  CHANNEL_BY_PART,
  INPUT_CHANNELS,
  OPENING_EVENTS,
  TERMINAL_EVENTS,
  type TextChannel,
} from './wire.ts';

export function createDecoder(context: DecodeContext): StreamDecoder {
  const reader = new AnswerReader(context);
  const numbers = context.request.exactNumbers;
  const reasoningFormat = context.quirks?.reasoningFormat;
  return {
    decode(frame) {
      if (reader.isEnded || frame.data === '[DONE]') return [];
      const read = readFrame(frame, JSON_LIMITS, numbers);
      if (read === undefined) return [];
      if (read instanceof GatewayError) return reader.fail(read);
      const value = reasoningFormat === undefined ? read : withNamedSeals(read, reasoningFormat);
      const events = reader.read(value, frame.event);
      return context.relay ? [{ type: 'relay', dialect: 'responses', frame, value, events }] : events;
    },
    end: () => reader.cut(),
  };
}

// --- The answer -----------------------------------------------------------------------------------------------------

/** Reads one answer, event by event, or a whole body. After a terminal event it reads nothing more. */
class AnswerReader {
  readonly #output: OutputReader;
  #events: Event[] = [];
  #isStarted = false;
  #isEnded = false;
  #usage: Usage | undefined;
  readonly #relays: boolean;
  /** The caller's format is this one: what we do not model goes on to it. */
  readonly #passesOn: boolean;
  #early: Event[] = [];

  constructor(context: DecodeContext) {
    this.#relays = context.relay;
    this.#passesOn = context.request.format === 'responses';
    this.#output = new OutputReader((event) => this.#emit(event), context);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Decodes one wire event. `name`: the frame's event name, for servers that leave `type` out. */
  read(value: JsonObject, name?: string): Event[] {
    this.#step(stringAt(value, 'type') ?? name ?? '', value);
    return this.#take();
  }

  readWhole(body: JsonObject): Event[] {
    const isError = isJsonObject(body.error);
    if (isError || !Array.isArray(body.output)) {
      this.#usage = readUsage(body);
      this.#fail(isError ? failureOf(body) : notAnAnswer());
    } else this.#finish(body, `response.${stringAt(body, 'status') ?? 'completed'}`);
    return this.#take();
  }

  /** The bytes have ended. */
  cut(): Event[] {
    return this.#isEnded ? [] : this.fail(endedEarly());
  }

  fail(error: GatewayError): Event[] {
    this.#fail(error);
    return this.#take();
  }

  #emit(event: Event): void {
    this.#events.push(event);
  }

  #take(): Event[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #step(type: string, value: JsonObject): void {
    if (OPENING_EVENTS.has(type)) {
      this.#start(objectAt(value, 'response'));
    } else if (TERMINAL_EVENTS.has(type)) {
      this.#finish(objectAt(value, 'response') ?? {}, type);
    } else if (type === 'error' || (!type.startsWith('response.') && isJsonObject(value.error))) {
      this.#fail(failureOf(value));
    } else if (type.startsWith('response.')) {
      this.#start(undefined);
      this.#progress(type, value);
    } else {
      this.#opaque(type, value);
    }
  }

  // --- Start and end ------------------------------------------------------------------------------------------------

  #start(response: JsonObject | undefined): void {
    const usage = response && readUsage(response);
    if (usage !== undefined) this.#usage = laterUsage(this.#usage, usage);
    if (this.#isStarted) return;
    this.#isStarted = true;
    const upstreamId = response && stringAt(response, 'id');
    if (upstreamId !== undefined) this.#output.upstreamId = upstreamId;
    this.#emit(
      compact({ type: 'start', upstreamId, upstreamModel: response && stringAt(response, 'model') }),
    );
    for (const event of this.#early.splice(0)) this.#emit(event);
  }

  #finish(response: JsonObject, type: string): void {
    this.#start(response);
    const status = stringAt(response, 'status') ?? type.replace('response.', '');
    if (status !== 'completed' && status !== 'incomplete') {
      this.#fail(isJsonObject(response.error) ? failureOf(response) : notAnAnswer());
      return;
    }
    this.#wholeOutput(response);
    this.#output.endAll(status);
    if (this.#usage !== undefined) this.#emit({ type: 'usage', usage: this.#usage });
    this.#isEnded = true;
    this.#emit(readFinish(response, status, this.#output));
  }

  /** Adds what the stream left out of the final snapshot's output. */
  #wholeOutput(response: JsonObject): void {
    const knewNothing = this.#output.isEmpty;
    for (const [index, item] of objectsAt(response, 'output').entries()) {
      const known = this.#output.findWhole(item, index);
      const slot = known ?? (knewNothing ? this.#output.begin(item, index) : undefined);
      if (slot !== undefined) this.#output.whole(slot, item);
    }
  }

  #fail(error: GatewayError): void {
    if (this.#usage !== undefined) this.#emit({ type: 'usage', usage: this.#usage });
    this.#isEnded = true;
    this.#emit({ type: 'failure', error });
  }

  // --- Content ------------------------------------------------------------------------------------------------------

  #progress(type: string, value: JsonObject): void {
    if (type === 'response.output_item.added') this.#added(value);
    else if (type === 'response.output_item.done') this.#done(value);
    else if (this.#output.find(value)?.head.type === 'opaque') this.#opaque(type, value);
    else this.#piece(type, value);
  }

  /** A part, text or input of an item that we model. */
  #piece(type: string, value: JsonObject): void {
    const channel = CHANNEL_BY_DELTA.get(type) ?? CHANNEL_BY_DONE.get(type);
    if (channel !== undefined) {
      if (CHANNEL_BY_DELTA.has(type)) this.#text(channel, value);
      else this.#wholeText(channel, value);
      return;
    }
    switch (type) {
      case 'response.content_part.added':
      case 'response.reasoning_summary_part.added':
        this.#partAdded(type, value);
        break;
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.done':
        this.#partDone(type, value);
        break;
      case 'response.output_text.annotation.added':
        this.#annotation(value);
        break;
      case INPUT_CHANNELS.function.delta:
      case INPUT_CHANNELS.custom.delta:
        this.#input(value);
        break;
      case INPUT_CHANNELS.function.done:
      case INPUT_CHANNELS.custom.done:
        this.#wholeInput(type, value);
        break;
      default:
        this.#opaque(type, value);
    }
  }

  #added(value: JsonObject): void {
    const item = objectAt(value, 'item');
    const index = numberAt(value, 'output_index');
    if (item === undefined || (index !== undefined && this.#output.find(value) !== undefined)) return;
    this.#output.begin(item, index);
  }

  #done(value: JsonObject): void {
    const item = objectAt(value, 'item');
    if (item === undefined) return;
    const index = numberAt(value, 'output_index');
    const known = this.#output.find({ output_index: index, item_id: item.id });
    const slot = known ?? this.#output.begin(item, index);
    if (slot !== undefined) this.#output.whole(slot, item);
  }

  #partAdded(type: string, value: JsonObject): void {
    const channel = channelOfPart(value);
    if (channel === undefined) this.#unknownPart(type, value);
    const slot = channel && this.#slotFor(channel, value);
    if (channel !== undefined && slot?.open) this.#output.part(slot, channel.kind, indexIn(channel, value));
  }

  #partDone(type: string, value: JsonObject): void {
    const channel = channelOfPart(value);
    if (channel === undefined) this.#unknownPart(type, value);
    const slot = this.#output.find(value);
    const part = objectAt(value, 'part');
    if (channel !== undefined && slot !== undefined && part !== undefined) {
      this.#output.wholePart(slot, part, indexIn(channel, value));
    }
  }

  /** Translated items have no parts of other kinds: such a part would take the place of the next. */
  #unknownPart(type: string, value: JsonObject): void {
    if (this.#relays) this.#opaque(type, value);
  }

  #text(channel: TextChannel, value: JsonObject): void {
    const text = stringAt(value, 'delta');
    const slot = text === undefined ? undefined : this.#slotFor(channel, value);
    if (text === undefined || text === '' || slot === undefined) return;
    const logprobs = objectsAt(value, 'logprobs');
    this.#output.text(
      slot,
      channel.kind,
      indexIn(channel, value),
      text,
      logprobs.length > 0 ? logprobs : undefined,
    );
  }

  #wholeText(channel: TextChannel, value: JsonObject): void {
    const text = stringAt(value, channel.doneField);
    const slot = text === undefined ? undefined : this.#slotFor(channel, value);
    if (text !== undefined && slot !== undefined) {
      this.#output.wholeText(slot, channel.kind, indexIn(channel, value), text);
    }
  }

  /** The item of a text; one without a start begins here. */
  #slotFor(channel: TextChannel, value: JsonObject): ItemSlot | undefined {
    const known = this.#output.find(value);
    if (known !== undefined) return known.head.type === channel.item ? known : undefined;
    const item = { type: channel.item, id: stringAt(value, 'item_id') };
    return this.#output.begin(item, numberAt(value, 'output_index'));
  }

  #annotation(value: JsonObject): void {
    const annotation = objectAt(value, 'annotation');
    const slot = this.#output.find(value);
    if (annotation !== undefined && slot?.head.type === 'message') {
      this.#output.annotation(slot, numberAt(value, 'content_index') ?? 0, annotation);
    }
  }

  #input(value: JsonObject): void {
    const slot = this.#output.find(value);
    if (slot?.head.type === 'tool-call') this.#output.input(slot, stringAt(value, 'delta') ?? '');
  }

  #wholeInput(type: string, value: JsonObject): void {
    const channel = type === INPUT_CHANNELS.custom.done ? INPUT_CHANNELS.custom : INPUT_CHANNELS.function;
    const slot = this.#output.find(value);
    if (slot?.head.type !== 'tool-call') return;
    this.#output.wholeInput(slot, stringAt(value, channel.field) ?? '');
    this.#output.endInput(slot);
  }

  /** Events before the beginning wait for it: clients read no other event first. */
  #opaque(type: string, given: JsonObject): void {
    if (!this.#passesOn) return;
    const value = given.type === type ? given : { ...given, type };
    const isOfItem = value.output_index !== undefined || value.item_id !== undefined;
    const slot = isOfItem ? this.#output.find(value) : undefined;
    const event = { type: 'opaque', dialect: 'responses', value } as const;
    const placed: Event = slot === undefined ? event : { ...event, item: slot.item };
    if (this.#isStarted) this.#emit(placed);
    else this.#early.push(placed);
  }
}

function notAnAnswer(): BrokenAnswer {
  return new BrokenAnswer('The provider sent something that is not an answer');
}

function channelOfPart(value: JsonObject): TextChannel | undefined {
  return CHANNEL_BY_PART.get(stringAt(objectAt(value, 'part') ?? {}, 'type') ?? '');
}

function indexIn(channel: TextChannel, value: JsonObject): number {
  return numberAt(value, channel.index) ?? 0;
}

// --- Whole bodies ---------------------------------------------------------------------------------------------------

/** Decodes a whole answer that came in one piece. */
export function decodeBody(given: JsonObject, context: DecodeContext): Event[] {
  const reasoningFormat = context.quirks?.reasoningFormat;
  const body = reasoningFormat === undefined ? given : withNamedSeals(given, reasoningFormat);
  const events = new AnswerReader({ ...context, relay: false }).readWhole(body);
  return relayedBody('responses', body, events, context);
}
