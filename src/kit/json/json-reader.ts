import type { Sliced } from '../loop/turns.ts';
import { type ExactNumbers, TooManyLongNumbers } from './exact-numbers.ts';
import { JSON_LIMITS, type JsonReading } from './json.ts';
import { type Excess, type JsonLimits, JsonScanner } from './json-scanner.ts';
import { JsonProblem, parseSliced } from './parse-sliced.ts';

/** Text up to this size is parsed at once, which takes less than a millisecond. */
const AT_ONCE = { characters: 256 * 1024, values: 4_000 };

/** Reads JSON that arrives in pieces: checks the limits of each on arrival, and parses the whole in slices. */
export class JsonReader {
  readonly #limits: JsonLimits;
  readonly #scanner: JsonScanner;
  readonly #numbers: ExactNumbers | undefined;
  readonly #pieces: string[] = [];
  #characters = 0;
  #excess: Excess | undefined;

  constructor(limits: JsonLimits = JSON_LIMITS, numbers?: ExactNumbers) {
    this.#limits = limits;
    this.#numbers = numbers;
    this.#scanner = new JsonScanner(limits);
  }

  /** Adds a piece. Once a limit is exceeded, all pieces are dropped. */
  push(piece: string): void {
    this.#excess ??= this.#scanner.push(piece);
    this.#characters += piece.length;
    if (this.#excess === undefined) this.#pieces.push(piece);
    else this.#pieces.length = 0;
  }

  /** The text so far; empty once a limit is exceeded. */
  get text(): string {
    return this.#pieces.join('');
  }

  /** Parses what was pushed. The problem never quotes the text. */
  *end(): Sliced<JsonReading> {
    if (this.#excess !== undefined) return { ok: false, ...this.#excess };
    const { values, large, hasExponent } = this.#scanner;
    const isSmall = this.#characters <= AT_ONCE.characters && values <= AT_ONCE.values;
    if (hasExponent) this.#numbers?.expect();
    const { text } = this;
    let read = text;
    try {
      if (this.#numbers !== undefined) read = yield* this.#numbers.readSliced(text);
      if (isSmall) return { ok: true, value: yield* parseSliced(read, NOTHING_LARGE) };
      return {
        ok: true,
        value: yield* parseSliced(read, read === text ? large : yield* this.#scanAgain(read)),
      };
    } catch (error) {
      if (error instanceof TooManyLongNumbers) return { ok: false, path: '', problem: error.message };
      if (!(error instanceof JsonProblem)) throw error;
      // Positions are those of the text that came.
      const position = read === text ? error.position : undefined;
      return {
        ok: false,
        path: '',
        problem: position === undefined ? 'not valid JSON' : `not valid JSON at position ${position}`,
      };
    }
  }

  /** Large containers of a text in which numbers have other lengths. */
  *#scanAgain(text: string): Sliced<ReadonlyMap<number, number>> {
    const scanner = new JsonScanner(this.#limits);
    for (let from = 0; from < text.length; from += AT_ONCE.characters) {
      scanner.push(text.slice(from, from + AT_ONCE.characters));
      yield;
    }
    return scanner.large;
  }
}

const NOTHING_LARGE: ReadonlyMap<number, number> = new Map();
