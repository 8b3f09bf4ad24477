import type { Nanos } from '../../kit/money.ts';

/** A generation that has a row in the database. */
export interface BookedGeneration {
  readonly id: string;
  readonly settledAtMs: number;
  readonly creditNanos: Nanos;
}

/**
 * The generations that were settled after the last one that the books know. `newest`: rows, the last settled first. The books
 * remember the ids of the last ten thousand and more, so one that they do not know was settled long before the others, by a
 * clock that was set back, or is lost to them.
 */
export function unrecordedGenerations(
  newest: readonly BookedGeneration[],
  known: ReadonlySet<string>,
): readonly BookedGeneration[] {
  const end = newest.findIndex(({ id }) => known.has(id));
  return end === -1 ? newest : newest.slice(0, end);
}
