import { type CodeRanges, OP, type Program } from './program.ts';

/** Code points below this are looked up in a table. */
const TABLE_SIZE = 0x250;
const WORD: CodeRanges = Int32Array.of(0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a);

/**
 * Groups code points into classes whose members no instruction of some programs tells apart, so that an automaton needs
 * one transition for each class.
 */
export class Alphabet {
  /** Number of classes. */
  readonly size: number;
  /** Classes of the code points below its length. */
  readonly table: Uint16Array;
  /** For each class: 1 = its members are letters, digits or `_` of ASCII. */
  readonly words: Uint8Array;
  /** First code points of the intervals, in order, and the class of each. */
  readonly #bounds: Int32Array;
  readonly #classes: Uint16Array;
  /** One member of each class. */
  readonly #members: number[] = [];
  readonly #accepted = new Map<string, Uint8Array>();

  constructor(programs: readonly Program[]) {
    const sets = distinctSets(programs);
    const bounds = new Set([0]);
    for (const ranges of sets) {
      for (let at = 0; at < ranges.length; at += 2) {
        bounds.add(ranges[at] ?? 0).add((ranges[at + 1] ?? 0) + 1);
      }
    }
    this.#bounds = Int32Array.from(bounds).sort();
    this.#classes = new Uint16Array(this.#bounds.length);
    this.size = this.#classify(sets);
    this.words = this.accepted(WORD);
    this.table = Uint16Array.from({ length: TABLE_SIZE }, (_, code) => this.#search(code));
  }

  classOf(code: number): number {
    return code < TABLE_SIZE ? (this.table[code] ?? 0) : this.#search(code);
  }

  /** For each class: 1 = the ranges contain its members. */
  accepted(ranges: CodeRanges): Uint8Array {
    const key = ranges.join();
    let accepted = this.#accepted.get(key);
    if (accepted === undefined) {
      accepted = Uint8Array.from(this.#members, (code) => (contains(ranges, code) ? 1 : 0));
      this.#accepted.set(key, accepted);
    }
    return accepted;
  }

  /** Gives intervals that the same sets contain the same class. Returns the number of classes. */
  #classify(sets: readonly CodeRanges[]): number {
    const signatures: number[][] = Array.from(this.#bounds, () => []);
    sets.forEach((ranges, number) => {
      for (let at = 0; at < ranges.length; at += 2) {
        const last = ranges[at + 1] ?? 0;
        let interval = this.#intervalOf(ranges[at] ?? 0);
        while ((this.#bounds[interval] ?? Number.POSITIVE_INFINITY) <= last) {
          signatures[interval++]?.push(number);
        }
      }
    });
    const known = new Map<string, number>();
    signatures.forEach((signature, interval) => {
      const key = signature.join();
      const number = known.get(key) ?? known.size;
      if (number === known.size) {
        known.set(key, number);
        this.#members.push(this.#bounds[interval] ?? 0);
      }
      this.#classes[interval] = number;
    });
    return known.size;
  }

  #search(code: number): number {
    return this.#classes[this.#intervalOf(code)] ?? 0;
  }

  #intervalOf(code: number): number {
    let low = 0;
    let high = this.#bounds.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#bounds[middle] ?? 0) <= code) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** All sets of characters that instructions match, and the word characters where assertions ask for them. */
function distinctSets(programs: readonly Program[]): CodeRanges[] {
  const sets = new Map<string, CodeRanges>();
  for (const { ops, ranges, hasAsserts } of programs) {
    if (hasAsserts) sets.set(WORD.join(), WORD);
    ranges.forEach((set, pc) => {
      if (ops[pc] === OP.character && set !== undefined) sets.set(set.join(), set);
    });
  }
  return [...sets.values()];
}

function contains(ranges: CodeRanges, code: number): boolean {
  let low = 0;
  let high = (ranges.length >> 1) - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (code < (ranges[2 * middle] ?? 0)) high = middle - 1;
    else if (code > (ranges[2 * middle + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}
