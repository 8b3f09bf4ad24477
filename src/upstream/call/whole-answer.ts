import type { DecodeContext, UpstreamDialect } from '../../dialects/dialect.ts';
import { isErrorBody } from '../../dialects/shared/answers/error-envelope.ts';
import { type Event, type EventBatch, terminalIndex } from '../../ir/events.ts';
import type { Flow } from '../../kit/frames/flow.ts';
import {
  isJsonObject,
  JSON_LIMITS,
  type Json,
  type JsonObject,
  type JsonReading,
  readJson,
} from '../../kit/json/json.ts';
import { JsonReader } from '../../kit/json/json-reader.ts';
import type { TurnQueue } from '../../kit/loop/turn-queue.ts';
import { runInTurns } from '../../kit/loop/turns.ts';
import { Utf8Text } from '../../kit/text/utf8-text.ts';
import { TransportProblem } from '../../net/http1/client/transport-problem.ts';
import { AnswerMask, MaskedText } from './answer-mask.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { brokenOff, type FailureScope, failureOfBody, rewriteTerminal } from './failure.ts';
import { withoutLogprobs } from './logprobs.ts';
import { Portions } from './portions.ts';

/** Bytes of a non-streaming answer. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Log probabilities alone can hold far more values than a request may. */
const BODY_LIMITS = { ...JSON_LIMITS, values: 4_000_000 };

/**
 * Values without log probabilities: more than a model could write. Each becomes events, items or members of the reply.
 */
const MAX_VALUES = 100_000;

/** After this many bytes an answer waits for its next turn. */
const TURN_BYTES = 64 * 1024;

/** Answers up to this size are read at once. */
const SMALL_BYTES = 16 * 1024;

const UTF8 = new TextDecoder();

const ERROR_CHARACTERS = 64 * 1024;

export interface WholeSource {
  readonly status: number;
  readonly chunks: Flow<Uint8Array>;
  readonly signal: AbortSignal;
  readonly scope: FailureScope;
  readonly turns: TurnQueue;
  readonly memory: AnswerMemory;
  readonly dialect: Pick<UpstreamDialect, 'decodeBody' | 'maxAnswerValues' | 'echoes' | 'logProbabilities'>;
  readonly context: DecodeContext;
}

/**
 * An answer that comes in one piece: one batch, or portions of it where the caller gets it as a stream. Takes all
 * bytes, parses them, a slice at a time where they are many, and ends with exactly one terminal event whatever
 * happens. Returning early closes the connection at once, even while the batch is awaited.
 */
export class WholeAnswer implements AsyncIterableIterator<EventBatch>, Flow<EventBatch> {
  readonly #source: WholeSource;
  #portions: Portions | undefined;
  #isRead = false;
  /** A polled chunk that is not the whole body, or large. */
  #begun: Uint8Array | undefined;

  constructor(source: WholeSource) {
    this.#source = source;
  }

  async next(): Promise<IteratorResult<EventBatch, undefined>> {
    const here = this.poll();
    if (here !== undefined) return { done: false, value: here };
    if (this.#isRead) return this.#portions === undefined ? OVER : this.#nextPortion(this.#portions);
    const { chunks } = this.#source;
    let events: Event[];
    try {
      const begun = this.#begun;
      const first = begun === undefined ? await chunks.next() : { done: false as const, value: begun };
      const second = first.done === true ? first : await chunks.next();
      const isSmall = first.done !== true && second.done === true && first.value.length <= SMALL_BYTES;
      events = this.#upToTerminal(
        isSmall ? this.#readSmall(first.value) : await this.#readLarge(first, second),
      );
    } catch (thrown) {
      await chunks.return?.();
      events = [brokenOff(thrown, this.#source)];
    }
    return { done: false, value: this.#firstOf(events) };
  }

  /** The answer, if all of it is there and small: mostly its body arrives together with its head. */
  poll(): EventBatch | undefined {
    if (this.#isRead || this.#begun !== undefined) return undefined;
    const { chunks } = this.#source;
    const here = chunks.poll?.();
    if (here === undefined) return undefined;
    if (chunks.hasEnded !== true || here.length > SMALL_BYTES) {
      this.#begun = here;
      return undefined;
    }
    let events: Event[];
    try {
      events = this.#upToTerminal(this.#readSmall(here));
    } catch (thrown) {
      events = [brokenOff(thrown, this.#source)];
    }
    return this.#firstOf(events);
  }

  get hasEnded(): boolean {
    return this.#isRead && this.#portions?.isEmpty !== false;
  }

  async return(): Promise<IteratorResult<EventBatch, undefined>> {
    this.#portions = undefined;
    if (!this.#isRead) {
      this.#isRead = true;
      this.#source.memory.end();
      await this.#source.chunks.return?.();
    }
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #firstOf(events: Event[]): EventBatch {
    this.#isRead = true;
    this.#source.memory.end();
    if (!this.#source.context.request.stream) return events;
    this.#portions = new Portions(events);
    return this.#portions.take();
  }

  async #nextPortion(portions: Portions): Promise<IteratorResult<EventBatch, undefined>> {
    if (portions.isEmpty) return OVER;
    await this.#source.turns.next();
    // `return` may have been called while others had their turn.
    return this.#portions === undefined ? OVER : { done: false, value: portions.take() };
  }

  /** Reads an answer of one small chunk, which cannot hold too many values. */
  #readSmall(chunk: Uint8Array): Event[] {
    const { scope, context } = this.#source;
    const { exactNumbers } = context.request;
    exactNumbers?.look(chunk);
    const given = UTF8.decode(chunk);
    const text = AnswerMask.of(scope.confidential).text(given);
    const reading = readJson(text, BODY_LIMITS, exactNumbers);
    return this.#eventsOf(reading, { text }, { isLarge: false, isMasked: text !== given });
  }

  async #readLarge(...begun: IteratorResult<Uint8Array, unknown>[]): Promise<Event[]> {
    const { chunks, turns, memory, context, scope } = this.#source;
    const { exactNumbers } = context.request;
    const json = new JsonReader(BODY_LIMITS, exactNumbers);
    const text = new Utf8Text();
    const masked = new MaskedText(AnswerMask.of(scope.confidential));
    let bytes = 0;
    let unbroken = 0;
    const next = () => begun.shift() ?? chunks.next();
    for (let step = await next(); step.done !== true; step = await next()) {
      bytes += step.value.length;
      if (bytes > MAX_BODY_BYTES) {
        throw new TransportProblem('too-large', `the answer is larger than ${MAX_BODY_BYTES} bytes`);
      }
      if (!memory.hasRoomFor(bytes)) await memory.waitFor(bytes);
      exactNumbers?.look(step.value);
      json.push(masked.push(text.push(step.value)));
      unbroken += step.value.length;
      if (unbroken <= TURN_BYTES) continue;
      unbroken = 0;
      await turns.next();
    }
    json.push(masked.push(text.end()) + masked.end());
    const reading = await runInTurns(json.end());
    return this.#eventsOf(reading, json, { isLarge: bytes > SMALL_BYTES, isMasked: masked.hasMasked });
  }

  /** `isMasked`: a secret was found, which the tokens of log probabilities may spell too. */
  #eventsOf(
    reading: JsonReading,
    written: { readonly text: string },
    { isLarge, isMasked }: { readonly isLarge: boolean; readonly isMasked: boolean },
  ): Event[] {
    if (!reading.ok) return this.#refused(`the answer is not acceptable: ${reading.problem}`, '');
    const { value } = reading;
    if (!isJsonObject(value)) return this.#refused('the answer is not a JSON object', '');
    if (isErrorBody(value)) {
      const refused = this.#refused('the provider sent an error instead of an answer', written.text);
      return [...this.#reportIn(value), ...refused];
    }
    const { dialect } = this.#source;
    const { maxAnswerValues = MAX_VALUES } = dialect;
    if (isLarge && answerValues(value, dialect, maxAnswerValues) > maxAnswerValues) {
      return this.#refused(`the answer holds more than ${maxAnswerValues} values`, '');
    }
    const body = isMasked ? (withoutLogprobs(value) as JsonObject) : value;
    return dialect.decodeBody(body, this.#source.context);
  }

  /** The usage that an error body reports: the upstream may bill it. */
  #reportIn(body: JsonObject): Event[] {
    if (!isJsonObject(body.usage)) return [];
    const { dialect, context } = this.#source;
    return dialect
      .decodeBody(body, context)
      .flatMap((event) => (event.type === 'relay' ? event.events : [event]))
      .filter(({ type }) => type === 'usage');
  }

  /** The failure of a body that is no answer. `text`: the upstream's error body, or empty: then it may be one. */
  #refused(cause: string, text: string): Event[] {
    const { status, scope } = this.#source;
    const lost = text === '' ? 'broken-off' : undefined;
    const error = failureOfBody(cause, status, text.slice(0, ERROR_CHARACTERS), scope, lost);
    return [{ type: 'failure', error }];
  }

  /** The events up to the terminal one, which is rewritten for the caller. */
  #upToTerminal(events: Event[]): Event[] {
    const { status, scope } = this.#source;
    const at = terminalIndex(events);
    const terminal = events[at];
    if (terminal === undefined) {
      return [...events, brokenOff(new TransportProblem('reset', 'the answer ended early'), this.#source)];
    }
    const rewritten = rewriteTerminal(terminal, status, scope);
    if (rewritten === terminal && at === events.length - 1) return events;
    return [...events.slice(0, at), rewritten];
  }
}

const OVER: IteratorResult<never, undefined> = { done: true, value: undefined };

type AnswerMembers = Pick<UpstreamDialect, 'echoes' | 'logProbabilities'>;

/** Values of an answer, without those that repeat the request and log probabilities; counted up to `most`. */
function answerValues(body: JsonObject, { echoes, logProbabilities }: AnswerMembers, most: number): number {
  const own = Object.entries(body).filter(([name]) => echoes?.has(name) !== true);
  return countValues(Object.fromEntries(own), logProbabilities, most);
}

/** Values inside a value, members called `leftOut` not counted; beyond `most` no more are counted. */
function countValues(value: Json | undefined, leftOut: string | undefined, most: number): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const member of value) {
      if (count > most) break;
      count += 1 + countValues(member, leftOut, most - count);
    }
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      if (key !== leftOut) count += 1 + countValues(member, leftOut, most - count);
    }
  }
  return count;
}
