import { caseFolding } from './case-folding.ts';

/** Code points as pairs of first and last, in order; no two ranges touch. */
export type MergedRanges = Int32Array;

const LAST_CODE = 0x10ffff;

/** More than the largest code point. */
const CODES = 2 ** 21;

/** The union of ranges in any order, given as pairs of first and last. */
export function mergedRanges(pairs: ArrayLike<number>): MergedRanges {
  const sorted = new Float64Array(pairs.length / 2);
  for (let at = 0; at < sorted.length; at++)
    sorted[at] = (pairs[2 * at] ?? 0) * CODES + (pairs[2 * at + 1] ?? 0);
  sorted.sort();
  const merged = new Int32Array(pairs.length);
  let length = 0;
  for (const pair of sorted) {
    const first = Math.floor(pair / CODES);
    const last = pair % CODES;
    const end = length === 0 ? -2 : (merged[length - 1] ?? 0);
    if (first > end + 1) {
      merged[length++] = first;
      merged[length++] = last;
    } else if (last > end) merged[length - 1] = last;
  }
  return merged.slice(0, length);
}

export function negatedRanges(ranges: MergedRanges): MergedRanges {
  const others: number[] = [];
  let from = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    const first = ranges[at] ?? 0;
    if (first > from) others.push(from, first - 1);
    from = (ranges[at + 1] ?? 0) + 1;
  }
  if (from <= LAST_CODE) others.push(from, LAST_CODE);
  return Int32Array.from(others);
}

export interface CaseClosure {
  readonly ranges: MergedRanges;
  /** Letters that had to be looked at. */
  readonly work: number;
}

/** Ranges with all code points that are equal to one of theirs if case is ignored. */
export function closedUnderCase(ranges: MergedRanges): CaseClosure {
  const { codes, equals } = caseFolding();
  // Places of the first letter of each range, and of the first one behind it.
  const places = ranges.map((code, at) => firstFrom(codes, code + (at % 2)));
  const work = places.reduce((sum, place, at) => (at % 2 === 0 ? sum - place : sum + place), 0);
  // Without letters of two cases, or with all of them, nothing is missing.
  if (work === 0 || work === codes.length) return { ranges, work: 0 };
  const missing: number[] = [];
  for (let at = 0; at < places.length; at += 2) {
    for (const code of codes.subarray(places[at], places[at + 1])) {
      for (const equal of equals.get(code) ?? []) {
        if (!contains(ranges, equal)) missing.push(equal, equal);
      }
    }
  }
  return { ranges: missing.length === 0 ? ranges : mergedRanges([...ranges, ...missing]), work };
}

function contains(ranges: MergedRanges, code: number): boolean {
  const at = firstFrom(ranges, code);
  // The code is the first or last of a range, or between them.
  return ranges[at] === code || at % 2 === 1;
}

/** The place of the first number of a list in order that is not less than a value. */
function firstFrom(sorted: Int32Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
