/** The middle of what several rounds measured, and how far they lie apart. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** The spread of at least one value. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = (sorted.length - 1) / 2;
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    least: at(0),
    most: at(sorted.length - 1),
  };
}

/** Compares two rows of rounds, round by round: what disturbed the machine in one round disturbed both. */
export function paired(
  left: readonly number[],
  right: readonly number[],
  compare: (left: number, right: number) => number,
): Spread {
  return spreadOf(left.map((value, round) => compare(value, right[round] ?? Number.NaN)));
}
