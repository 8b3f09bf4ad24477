import { Pace, type Sliced } from '../loop/turns.ts';
import type { CodeRanges, Program } from './program.ts';

const MEMBERS_IN_SLICE = 10_000;

/** Code points below this are looked up in a table. */
const TABLE_SIZE = 0x250;
const WORD: CodeRanges = Int32Array.of(0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a);

/**
 * Groups code points into classes whose members no instruction of some programs tells apart, so that an automaton needs
 * one transition for each class.
 */
export class Alphabet {
  /** Classes of the code points below its length. */
  readonly table: Uint32Array;
  /** For each class: 1 = its members are letters, digits or `_` of ASCII. */
  readonly words: Uint8Array;
  /** First code points of the intervals, in order, and the class of each. */
  readonly #bounds: Int32Array;
  readonly #classes: Uint32Array;
  readonly #members: readonly number[];

  private constructor(bounds: Int32Array, classes: Uint32Array, members: readonly number[]) {
    this.#bounds = bounds;
    this.#classes = classes;
    this.#members = members;
    this.words = this.accepted(WORD);
    this.table = Uint32Array.from({ length: TABLE_SIZE }, (_, code) => this.#search(code));
  }

  static *of(programs: readonly Program[]): Sliced<Alphabet> {
    const pace = new Pace();
    const sets = yield* distinctSets(programs, pace);
    const starts = new Set([0]);
    for (const ranges of sets) {
      for (let at = 0; at < ranges.length; at += 2) {
        if (pace.tick()) yield;
        starts.add(ranges[at] ?? 0).add((ranges[at + 1] ?? 0) + 1);
      }
    }
    const bounds = Int32Array.from(starts).sort();
    const { classes, members } = yield* classified(bounds, sets, pace);
    return new Alphabet(bounds, classes, members);
  }

  classOf(code: number): number {
    return code < TABLE_SIZE ? (this.table[code] ?? 0) : this.#search(code);
  }

  /** For each of some sets: for each class, 1 = the set contains its members. */
  *acceptedBy(sets: readonly CodeRanges[]): Sliced<Uint8Array[]> {
    const accepted: Uint8Array[] = [];
    let work = 0;
    for (const set of sets) {
      accepted.push(this.accepted(set));
      work += this.#members.length;
      if (work < MEMBERS_IN_SLICE) continue;
      work = 0;
      yield;
    }
    return accepted;
  }

  /** For each class: 1 = the ranges contain its members. */
  accepted(ranges: CodeRanges): Uint8Array {
    return Uint8Array.from(this.#members, (code) => (contains(ranges, code) ? 1 : 0));
  }

  #search(code: number): number {
    return this.#classes[intervalOf(this.#bounds, code)] ?? 0;
  }
}

/** Gives intervals that the same sets contain the same class: the class of each, and one member of each class. */
function* classified(
  bounds: Int32Array,
  sets: readonly CodeRanges[],
  pace: Pace,
): Sliced<{ readonly classes: Uint32Array; readonly members: readonly number[] }> {
  const signatures: number[][] = Array.from(bounds, () => []);
  for (const [number, ranges] of sets.entries()) {
    for (let at = 0; at < ranges.length; at += 2) {
      const last = ranges[at + 1] ?? 0;
      let interval = intervalOf(bounds, ranges[at] ?? 0);
      while ((bounds[interval] ?? Number.POSITIVE_INFINITY) <= last) {
        if (pace.tick()) yield;
        signatures[interval++]?.push(number);
      }
    }
  }
  const classes = new Uint32Array(bounds.length);
  const members: number[] = [];
  const known = new Map<string, number>();
  let work = 0;
  for (const [interval, signature] of signatures.entries()) {
    work += 1 + signature.length;
    if (work > MEMBERS_IN_SLICE) {
      work = 0;
      yield;
    }
    const key = signature.join();
    const number = known.get(key) ?? known.size;
    if (number === known.size) {
      known.set(key, number);
      members.push(bounds[interval] ?? 0);
    }
    classes[interval] = number;
  }
  return { classes, members };
}

function intervalOf(bounds: Int32Array, code: number): number {
  let low = 0;
  let high = bounds.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((bounds[middle] ?? 0) <= code) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** All sets of characters that instructions match, and the word characters where assertions ask for them. */
function* distinctSets(programs: readonly Program[], pace: Pace): Sliced<CodeRanges[]> {
  const distinct = new Map<string, CodeRanges>();
  for (const { sets, hasAsserts } of programs) {
    if (hasAsserts) distinct.set(WORD.join(), WORD);
    for (const set of sets) {
      if (pace.tick()) yield;
      distinct.set(set.join(), set);
    }
  }
  return [...distinct.values()];
}

export function contains(ranges: CodeRanges, code: number): boolean {
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
