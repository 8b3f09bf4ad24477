/** Personal data of one kind. */
export interface DataShape {
  /** Finds what may be it, or a character that it always contains. Global; every match is bounded. */
  readonly pattern: RegExp;
  /** By ASCII code: 1 = one of the characters of which every match contains one. */
  readonly needs: Uint8Array;
  /**
   * The span of the data in a match, not before `floor`; undefined = the match is no such data. It may read
   * `CONTEXT_CHARACTERS` before the match, and beyond its end as far as `openFrom` holds back.
   */
  readonly accept: (text: string, match: Span, floor: number) => Span | undefined;
  /** Where the end of a text begins that the next characters may make part of the data, not before `floor`. */
  readonly openFrom: (text: string, floor: number) => number;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Characters before a match that are kept for `accept`. */
export const CONTEXT_CHARACTERS = 2;

/**
 * Finds all data of a shape in a text that may come in pieces. Held back is the end of a text that consists of
 * characters of the data, from the first one that it may begin with, and at most the length of the longest.
 */
export class BoundedSearch {
  /** Start and end of each match, in turn; all are settled. */
  readonly matches: number[] = [];
  /** Everything before is settled. */
  hold: number;
  readonly #shape: DataShape;
  /** End of the last match. */
  #floor: number;
  /** The text that was read last, and its position. */
  #text = '';
  #base = 0;
  /** True if the unsettled text contains a character that every match contains. */
  #mayMatch = false;

  constructor(shape: DataShape, at = 0) {
    this.#shape = shape;
    this.hold = at;
    this.#floor = at;
  }

  get settled(): number {
    return this.matches.length;
  }

  forget(count: number): void {
    this.matches.splice(0, count);
  }

  /** `text` begins at position `base`, at the latest `CONTEXT_CHARACTERS` characters before `hold`. */
  read(text: string, base: number, end: number): number {
    const known = knownPart(text, base, end);
    const from = Math.max(this.#base + this.#text.length, this.hold) - base;
    this.#text = known;
    this.#base = base;
    const { needs } = this.#shape;
    this.#mayMatch ||= containsOne(known, from, needs);
    this.#find(base + this.#shape.openFrom(this.#text, this.hold - base));
    return end;
  }

  /** The text ends: searches the part that was held back. */
  end(): void {
    this.#find(this.#base + this.#text.length);
  }

  /** `hold` as it would be at least if one of these characters came next; Infinity is behind that character. */
  expecting(codes: readonly number[]): { readonly hold: number; readonly settled: number } {
    const isOpen = this.hold < this.#base + this.#text.length;
    if (isOpen || couldBegin(this.#shape, codes)) return this;
    return { hold: Number.POSITIVE_INFINITY, settled: this.settled };
  }

  /** Finds all matches that begin before `stop`. */
  #find(stop: number): void {
    if (this.#mayMatch) this.#addMatches(stop);
    this.hold = Math.max(this.#floor, stop);
    if (this.hold >= this.#base + this.#text.length) this.#mayMatch = false;
  }

  #addMatches(stop: number): void {
    const { pattern, accept } = this.#shape;
    const known = this.#text;
    const base = this.#base;
    pattern.lastIndex = this.hold - base;
    for (let match = pattern.exec(known); match !== null; match = pattern.exec(known)) {
      const start = match.index;
      if (start + base >= stop) break;
      const span = accept(known, { start, end: start + match[0].length }, this.#floor - base);
      if (span === undefined) pattern.lastIndex = start + 1;
      else {
        this.matches.push(span.start + base, span.end + base);
        this.#floor = span.end + base;
        pattern.lastIndex = span.end;
      }
    }
  }
}

/** By shape and the first of some characters: whether data may begin with one of them. */
const beginnings = new WeakMap<DataShape, Map<number, boolean>>();

/** Lists that begin with the same character must be the same. */
function couldBegin(shape: DataShape, codes: readonly number[]): boolean {
  const known = beginnings.get(shape) ?? new Map<number, boolean>();
  beginnings.set(shape, known);
  const first = codes[0] ?? 0;
  let could = known.get(first);
  if (could === undefined) {
    could = codes.some((code) => shape.openFrom(String.fromCodePoint(code), 0) === 0);
    known.set(first, could);
  }
  return could;
}

/** Whether a text contains one of the characters of a table, from an index on. */
function containsOne(text: string, from: number, table: Uint8Array): boolean {
  for (let at = from; at < text.length; at++) if (table[text.charCodeAt(at)] === 1) return true;
  return false;
}

function knownPart(text: string, base: number, end: number): string {
  return text.length === end - base ? text : text.slice(0, end - base);
}

/** For data that consists of few characters, some of which it may begin with. */
export function openRun(run: {
  readonly begins: (code: number) => boolean;
  readonly contains: (code: number) => boolean;
  readonly maxLength: number;
}): DataShape['openFrom'] {
  const { begins, contains, maxLength } = run;
  return (text, floor) => {
    // One more than the longest: a character after it may show that it is part of something longer.
    const least = Math.max(floor, text.length - maxLength - 1, 0);
    let start = text.length;
    for (let at = text.length - 1; at >= least; at--) {
      const code = text.charCodeAt(at);
      if (!contains(code)) break;
      if (begins(code)) start = at;
    }
    return start;
  };
}
