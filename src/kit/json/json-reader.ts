import type { Sliced } from '../loop/turns.ts';
import type { ExactNumbers } from './exact-numbers.ts';
import { JSON_LIMITS, type JsonReading } from './json.ts';
import { type Excess, type JsonLimits, JsonScanner } from './json-scanner.ts';
import { JsonProblem, parseSliced } from './parse-sliced.ts';

/** Text up to this size is parsed at once, which takes less than a millisecond. */
const AT_ONCE = { characters: 256 * 1024, values: 4_000 };

/** Reads JSON that arrives in pieces: checks the limits of each on arrival, and parses the whole in slices. */
export class JsonReader {
  readonly #scanner: JsonScanner;
  readonly #numbers: ExactNumbers | undefined;
  readonly #pieces: string[] = [];
  #characters = 0;
  #excess: Excess | undefined;

  /** `numbers`: keeps the digits of long numbers. */
  constructor(limits: JsonLimits = JSON_LIMITS, numbers?: ExactNumbers) {
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
    const { values, large } = this.#scanner;
    const isSmall = this.#characters <= AT_ONCE.characters && values <= AT_ONCE.values;
    try {
      const text = this.#numbers?.read(this.text) ?? this.text;
      return { ok: true, value: yield* parseSliced(text, isSmall ? NOTHING_LARGE : large) };
    } catch (error) {
      if (!(error instanceof JsonProblem)) throw error;
      const { position } = error;
      return {
        ok: false,
        path: '',
        problem: position === undefined ? 'not valid JSON' : `not valid JSON at position ${position}`,
      };
    }
  }
}

const NOTHING_LARGE: ReadonlyMap<number, number> = new Map();
