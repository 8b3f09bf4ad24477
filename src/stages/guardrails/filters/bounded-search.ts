/** Personal data of one kind. */
export interface DataShape {
  /**
   * Marks by ASCII code: 1 = one of the characters by which the data is found, at its beginning or within it.
   */
  readonly marks: Uint8Array;
  /**
   * The span of the data that a mark shows, not before `floor`; undefined = there is none. It may read
   * `CONTEXT_CHARACTERS` before the data, and beyond its end as far as `openFrom` holds back. It reads a bounded number
   * of characters, and looks at the neighbours first: a mark shows data rarely.
   */
  readonly find: (text: string, mark: number, floor: number) => Span | undefined;
  /** Where the end of a text begins that the next characters may make part of the data, not before `floor`. */
  readonly openFrom: (text: string, floor: number) => number;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Characters before a match that are kept for `find`. */
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

  /**
   * Reads as far as `end`. `text` begins at position `base`, at the latest `CONTEXT_CHARACTERS` characters before
   * `hold`.
   */
  read(text: string, base: number, end: number): number {
    this.#text = text;
    this.#base = base;
    this.#find(base + this.#shape.openFrom(knownPart(text, base, end), this.hold - base));
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

  /** Finds all data whose mark stands before `stop`. */
  #find(stop: number): void {
    const { marks, find } = this.#shape;
    const text = this.#text;
    const base = this.#base;
    for (let at = this.hold - base; at < stop - base; at++) {
      const code = text.charCodeAt(at);
      // Reading past the end of a table is slow.
      if (code >= marks.length || marks[code] !== 1) continue;
      const span = find(text, at, this.#floor - base);
      if (span === undefined) continue;
      this.matches.push(span.start + base, span.end + base);
      this.#floor = span.end + base;
      at = span.end - 1;
    }
    this.hold = Math.max(this.#floor, stop);
  }
}

/** Whether data may begin with one of some characters, by shape and the first of these characters. */
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
