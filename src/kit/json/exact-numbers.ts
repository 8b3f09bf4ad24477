import { Pace, runAtOnce, type Sliced } from '../loop/turns.ts';

const DIGIT_0 = 48;
const DIGIT_9 = 57;
const POINT = 46;
const BACKSLASH = 92;

/** Integers of fewer digits are below 2^53. */
const LONG_DIGITS = 16;

/** Below it, no number has a stand-in, and none is one. */
export const LEAST_LONG = 1e15;

/** Stands for a number that is too large for a double; those after it are free for others. */
const OVERFLOW = 2 ** 1023;

/** Characters of the shortest number that may be long: `1e15`. */
const LEAST_CHARACTERS = 4;

/** Long numbers of one text. More of them would take more memory than the text is worth. */
const MAX_NUMBERS = 200_000;

/** Nearly all requests have none. Never changed. */
const NONE: Map<number, string> = new Map();

export class TooManyLongNumbers extends Error {
  constructor() {
    super(`holds more than ${MAX_NUMBERS} numbers beyond 2^53`);
    this.name = 'TooManyLongNumbers';
  }
}

/**
 * Keeps the digits of numbers beyond 2^53, and of those that are too large for a double, across parsing and writing
 * JSON. Each such number gets a double of its own while it is parsed: the nearest one that no other number of the same
 * request and answer has. Writing puts the digits back wherever that double stands.
 */
export class ExactNumbers {
  /** Numbers as they were written, by their doubles. */
  #digits: Map<number, string> = NONE;
  /** Doubles of the numbers that did not get the nearest one. */
  #moved: Map<string, number> | undefined;
  /** For each taken double: where to go on looking for a free one. */
  #after: Map<number, number> | undefined;
  #mayBeLong = false;

  get isEmpty(): boolean {
    return this.#digits.size === 0;
  }

  /** Whether `read` looks for long numbers. */
  get isExpecting(): boolean {
    return this.#mayBeLong;
  }

  /** Must be given all bytes before `read` gets their text. Looks at every sixteenth of them. */
  look(bytes: Uint8Array): void {
    this.#mayBeLong ||= mayHoldLongInteger(bytes);
  }

  /** The next texts may have long numbers. */
  expect(): void {
    this.#mayBeLong = true;
  }

  /** Text to parse instead of `text`: mostly `text` itself. Throws TooManyLongNumbers. */
  read(text: string): string {
    return this.#mayBeLong ? runAtOnce(this.#readLong(text)) : text;
  }

  /** `read` of text whose bytes `look` did not get. */
  readLong(text: string): string {
    return runAtOnce(this.#readLong(text));
  }

  *readSliced(text: string): Sliced<string> {
    return this.#mayBeLong ? yield* this.#readLong(text) : text;
  }

  write(json: string): string {
    return this.isEmpty ? json : runAtOnce(this.writeSliced(json));
  }

  writeSliced(json: string): Sliced<string> {
    return mapNumbers(json, (token, value) => this.#digits.get(value) ?? token);
  }

  entries(): [double: string, digits: string][] {
    return [...this.#digits].map(([double, digits]) => [String(double), digits]);
  }

  /** Takes over numbers of an answer that was kept. */
  adopt(entries: readonly (readonly [double: string, digits: string])[]): void {
    for (const [double, digits] of entries) this.#add(Number(double), digits);
    this.#mayBeLong ||= entries.length > 0;
  }

  #readLong(text: string): Sliced<string> {
    let count = 0;
    return mapNumbers(text, (token, value) => {
      if (Number.isSafeInteger(value)) return token;
      if (++count > MAX_NUMBERS) throw new TooManyLongNumbers();
      const double = this.#doubleOf(token, value);
      return double === value ? token : String(double);
    });
  }

  #doubleOf(token: string, value: number): number {
    if (this.#digits.get(value) === token) return value;
    const known = this.#moved?.get(token);
    if (known !== undefined) return known;
    const double = this.#freeFrom(Number.isFinite(value) ? value : Math.sign(value) * OVERFLOW);
    this.#add(double, token);
    return double;
  }

  #add(double: number, digits: string): void {
    if (this.#digits === NONE) this.#digits = new Map();
    this.#digits.set(double, digits);
    if (double === Number(digits)) return;
    this.#moved ??= new Map();
    this.#moved.set(digits, double);
  }

  /** The first free double from `value` on. Shortens the way for the next one: numbers may be chosen to be close. */
  #freeFrom(value: number): number {
    const passed: number[] = [];
    let double = value;
    while (this.#digits.has(double) || Number.isSafeInteger(double)) {
      passed.push(double);
      double = this.#after?.get(double) ?? nextDouble(double);
    }
    if (passed.length > 0) this.#after ??= new Map();
    for (const taken of passed) this.#after?.set(taken, double);
    return double;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** JSON with every number from `LEAST_LONG` on replaced by what `replace` returns. */
function* mapNumbers(json: string, replace: (token: string, value: number) => string): Sliced<string> {
  const pieces: string[] = [];
  const pace = new Pace();
  let copied = 0;
  for (const [start, end] of outsideStrings(json)) {
    if (pace.tick()) yield;
    // Between most strings there are only a colon, a comma or brackets.
    if (end - start < LEAST_CHARACTERS) continue;
    for (const { 0: token, index } of json.slice(start, end).matchAll(NUMBER)) {
      if (pace.tick()) yield;
      if (token.length < LEAST_CHARACTERS) continue;
      const value = Number(token);
      if (value < LEAST_LONG && value > -LEAST_LONG) continue;
      const replaced = replace(token, value);
      if (replaced === token) continue;
      pieces.push(json.slice(copied, start + index), replaced);
      copied = start + index + token.length;
    }
  }
  return copied === 0 ? json : pieces.join('') + json.slice(copied);
}

function nextDouble(double: number): number {
  const next = double + double * 2 ** -52;
  return Number.isFinite(next) ? next : Math.sign(double) * OVERFLOW;
}

/** JSON of a value, with the digits of long numbers if there are any. */
export function stringifyExactly(value: unknown, numbers: ExactNumbers | undefined): string {
  const json = JSON.stringify(value);
  return numbers === undefined ? json : numbers.write(json);
}

/** True for bytes with 16 digits in a row, and for those that may continue with digits. */
function mayHoldLongInteger(bytes: Uint8Array): boolean {
  const { length } = bytes;
  // A run of 16 digits has one at every sixteenth place, wherever it begins.
  for (let at = LONG_DIGITS - 1; at < length; at += LONG_DIGITS) {
    if (!isDigitCode(bytes[at])) continue;
    let first = at;
    while (first > 0 && isDigitCode(bytes[first - 1])) first--;
    let after = at + 1;
    while (after < length && isDigitCode(bytes[after])) after++;
    if (after - first >= LONG_DIGITS && bytes[first - 1] !== POINT) return true;
    at = after - 1;
  }
  return isDigitCode(bytes[length - 1]);
}

function isDigitCode(code = 0): boolean {
  return code >= DIGIT_0 && code <= DIGIT_9;
}

/** The parts of JSON text that stand between strings, as indexes. */
function* outsideStrings(text: string): Generator<readonly [start: number, end: number]> {
  for (let start = 0; start < text.length; ) {
    const quote = text.indexOf('"', start);
    const end = quote === -1 ? text.length : quote;
    if (end > start) yield [start, end];
    start = quote === -1 ? text.length : endOfString(text, quote);
  }
}

/** Index after the string that begins at `quote`. */
function endOfString(text: string, quote: number): number {
  for (let at = text.indexOf('"', quote + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}
