import type { Event } from '../ir/events.ts';
import {
  isJsonObject,
  JSON_LIMITS,
  type Json,
  type JsonObject,
  type JsonReading,
  readJson,
} from '../kit/json.ts';
import { JsonReader } from '../kit/json-reader.ts';
import { runInTurns } from '../kit/turns.ts';
import type { AnswerReader } from './batches.ts';
import type { Turns } from './turns.ts';
import { TransportProblem } from './upstream.ts';

/** Bytes of a non-streaming answer. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Log probabilities alone can hold far more values than a request may. */
const BODY_LIMITS = { ...JSON_LIMITS, values: 4_000_000 };

/** Values besides them: more than a model could write. Each of them becomes events, items and members of the reply. */
const MOST_VALUES = 100_000;

/** After this many bytes an answer waits for its next turn. */
const TURN_BYTES = 64 * 1024;

/** An answer of so many bytes is read in one go; it cannot hold too many values either. */
const SMALL_BYTES = 16 * 1024;

const UTF8 = new TextDecoder();

/** What becomes of a whole answer. */
export interface WholeAnswerParts {
  readonly decodeBody: (body: JsonObject) => Event[];
  /** The events of what is no answer. `text`: what the upstream wrote, where that says something. */
  readonly fail: (cause: string, text: string) => Event[];
  /** Shared by all answers. */
  readonly turns: Turns;
}

/**
 * An answer that comes in one piece, as the source of its bytes and as their reader: it hands on no bytes, but takes
 * them all, and has parsed them, a slice at a time, when it says that there are no more.
 */
export class WholeAnswer implements AsyncIterator<Uint8Array, undefined>, AnswerReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #parts: WholeAnswerParts;
  #json: JsonReader | undefined;
  #text = '';
  #isSmall = false;
  #reading: JsonReading | undefined;

  constructor(chunks: AsyncIterator<Uint8Array>, parts: WholeAnswerParts) {
    this.#chunks = chunks;
    this.#parts = parts;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#reading !== undefined) return { done: true, value: undefined };
    const first = await this.#chunks.next();
    const second = first.done === true ? first : await this.#chunks.next();
    const isOneChunk = first.done !== true && second.done === true;
    if (isOneChunk && first.value.length <= SMALL_BYTES) this.#readSmall(first.value);
    else await this.#readLarge(first, second);
    return { done: true, value: undefined };
  }

  /** Most answers come in one chunk. */
  #readSmall(chunk: Uint8Array): void {
    this.#isSmall = true;
    this.#text = UTF8.decode(chunk);
    this.#reading = readJson(this.#text, BODY_LIMITS);
  }

  async #readLarge(...begun: IteratorResult<Uint8Array, unknown>[]): Promise<void> {
    const json = new JsonReader(BODY_LIMITS);
    const decoder = new TextDecoder();
    this.#json = json;
    let bytes = 0;
    let unbroken = 0;
    const next = () => begun.shift() ?? this.#chunks.next();
    for (let step = await next(); step.done !== true; step = await next()) {
      bytes += step.value.length;
      if (bytes > MAX_BODY_BYTES) {
        throw new TransportProblem('too-large', `the answer is larger than ${MAX_BODY_BYTES} bytes`);
      }
      json.push(decoder.decode(step.value, { stream: true }));
      unbroken += step.value.length;
      if (unbroken <= TURN_BYTES) continue;
      unbroken = 0;
      await this.#parts.turns.next();
    }
    json.push(decoder.decode());
    this.#reading = await runInTurns(json.end());
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    await this.#chunks.return?.();
    return { done: true, value: undefined };
  }

  read(): Event[] {
    return [];
  }

  end(): Event[] {
    const { decodeBody, fail } = this.#parts;
    const reading = this.#reading;
    if (reading === undefined) return [];
    if (!reading.ok) return fail(`the answer is not acceptable: ${reading.problem}`, '');
    if (!isJsonObject(reading.value)) return fail('the answer is not a JSON object', '');
    if (isErrorBody(reading.value)) {
      return fail('the provider sent an error instead of an answer', this.#json?.text ?? this.#text);
    }
    if (!this.#isSmall && countValues(withoutEchoes(reading.value), MOST_VALUES) > MOST_VALUES) {
      return fail(`the answer holds more than ${MOST_VALUES} values`, '');
    }
    return decodeBody(reading.value);
  }
}

/** Members of an answer that repeat the request, which may hold more values than an answer. */
const ECHOES: ReadonlySet<string> = new Set(['tools', 'text']);

function withoutEchoes(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !ECHOES.has(name)));
}

/** Members that hold log probabilities, by dialect. */
const LOG_PROBABILITIES: ReadonlySet<string> = new Set(['logprobs', 'logprobsResult']);

/** Values inside a value, log probabilities left out; beyond `most` they are not counted. */
function countValues(value: Json | undefined, most: number): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const member of value) {
      if (count > most) break;
      count += 1 + countValues(member, most - count);
    }
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      if (!LOG_PROBABILITIES.has(key)) count += 1 + countValues(member, most - count);
    }
  }
  return count;
}

/** True for the error envelopes of all dialects. */
function isErrorBody(body: JsonObject): boolean {
  const { error } = body;
  return body.type === 'error' || isJsonObject(error) || (typeof error === 'string' && error !== '');
}
