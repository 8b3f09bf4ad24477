const DIGIT_0 = 48;
const DIGIT_9 = 57;
const POINT = 46;
const BACKSLASH = 92;

/** Integers of fewer digits are below 2^53. */
const LONG_DIGITS = 16;

/** A number of JSON, from where it begins. */
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

const NUMBERS = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Numbers of one text whose digits are kept. In a text with more of them all become their nearest doubles. */
const MAX_NUMBERS = 2_000;

/** Nearly all requests have none. Never changed. */
const NONE: Map<string, string> = new Map();

/**
 * Keeps the digits of numbers beyond 2^53 across parsing and writing JSON. Each such number gets a double of its own
 * while it is parsed: the nearest one that no other number of the same request and answer has. Writing puts the digits
 * back wherever that double stands.
 */
export class ExactNumbers {
  /** Digits as they were written, by how their double is written. */
  #digits: Map<string, string> = NONE;
  #doubles: Map<string, number> | undefined;
  /** For each double that is taken, one after it from which on to look for a free one. */
  #after: Map<number, number> | undefined;
  #mayBeLong = false;

  /** No number needs its digits put back. */
  get isEmpty(): boolean {
    return this.#digits.size === 0;
  }

  /** Must be given all bytes before `read` gets their text. Looks at every sixteenth of them. */
  look(bytes: Uint8Array): void {
    this.#mayBeLong ||= mayHoldLongInteger(bytes);
  }

  /** Text to parse instead of `text`, of the same length: mostly `text` itself. */
  read(text: string): string {
    return this.#mayBeLong ? this.#readLong(text) : text;
  }

  /** JSON with the digits of the numbers that `read` saw. */
  write(json: string): string {
    return this.isEmpty ? json : this.#restore(json);
  }

  /** Numbers in the form that `adopt` takes. */
  entries(): [double: string, digits: string][] {
    return [...this.#digits];
  }

  /** Takes over numbers of an answer that was kept. */
  adopt(entries: readonly (readonly [double: string, digits: string])[]): void {
    for (const [double, digits] of entries) this.#add(Number(double), digits);
  }

  #readLong(text: string): string {
    const pieces: string[] = [];
    let copied = 0;
    let count = 0;
    for (const [start, end] of outsideStrings(text)) {
      let at = indexOfLongInteger(text, start, end);
      while (at !== -1) {
        const from = text[at - 1] === '-' ? at - 1 : at;
        NUMBER.lastIndex = from;
        const token = NUMBER.exec(text)?.[0] ?? '';
        if (++count > MAX_NUMBERS) return text;
        const written = this.#doubleOf(token);
        if (written !== undefined) {
          pieces.push(text.slice(copied, from), written);
          copied = from + token.length;
        }
        at = indexOfLongInteger(text, from + token.length, end);
      }
    }
    return copied === 0 ? text : pieces.join('') + text.slice(copied);
  }

  /** The double of a number as text of the same length; undefined if it is parsed as it stands. */
  #doubleOf(token: string): string | undefined {
    const value = Number(token);
    if (Number.isSafeInteger(value) || !Number.isFinite(value)) return undefined;
    const double = this.#doubles?.get(token) ?? this.#freeFrom(value, token);
    this.#add(double, token);
    return double === value ? undefined : writtenWithin(double, token.length)?.padEnd(token.length);
  }

  #add(double: number, digits: string): void {
    if (this.#digits === NONE) this.#digits = new Map();
    this.#doubles ??= new Map();
    this.#after ??= new Map();
    this.#digits.set(String(double), digits);
    this.#doubles.set(digits, double);
    if (!this.#after.has(double)) this.#after.set(double, nextDouble(double));
  }

  /** The first free double from `value` on. Shortens the way for the next one: numbers may be chosen to be close. */
  #freeFrom(value: number, token: string): number {
    const passed: number[] = [];
    let double = value;
    for (let next = this.#after?.get(double); next !== undefined; next = this.#after?.get(double)) {
      passed.push(double);
      double = next;
    }
    for (const taken of passed) this.#after?.set(taken, double);
    while (!this.#isFree(double, token)) double = nextDouble(double);
    return double;
  }

  #isFree(double: number, token: string): boolean {
    const digits = this.#digits.get(String(double)) ?? token;
    return (
      digits === token && (double === Number(token) || writtenWithin(double, token.length) !== undefined)
    );
  }

  #restore(json: string): string {
    const pieces: string[] = [];
    let copied = 0;
    for (const [start, end] of outsideStrings(json)) {
      // Between most strings there are only a colon, a comma or brackets.
      if (end - start < 2) continue;
      const segment = json.slice(start, end);
      const restored = segment.replace(NUMBERS, (number) => this.#digits.get(number) ?? number);
      if (restored === segment) continue;
      pieces.push(json.slice(copied, start), restored);
      copied = end;
    }
    return copied === 0 ? json : pieces.join('') + json.slice(copied);
  }
}

function nextDouble(double: number): number {
  return double + double * 2 ** -52;
}

/** A double as text of at most `length` characters. */
function writtenWithin(double: number, length: number): string | undefined {
  return [String(double), double.toExponential()].find((text) => text.length <= length);
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

/** Index of the first digit of an integer part that is long; -1 if there is none before `end`. */
function indexOfLongInteger(text: string, start: number, end = text.length): number {
  for (let at = start + LONG_DIGITS - 1; at < end; at += LONG_DIGITS) {
    if (!isDigit(text, at)) continue;
    let first = at;
    while (first > start && isDigit(text, first - 1)) first--;
    let after = at + 1;
    while (after < end && isDigit(text, after)) after++;
    if (after - first >= LONG_DIGITS && text.charCodeAt(first - 1) !== POINT) return first;
    at = after - 1;
  }
  return -1;
}

function isDigit(text: string, at: number): boolean {
  return isDigitCode(text.charCodeAt(at));
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
