import type { Appended } from '../ports/events.ts';

/** What became of events that were imported. */
export interface TakenInView {
  readonly imported: number;
  /** Known already, or in the file more than once. */
  readonly known: number;
  /** From before the last pruning. */
  readonly too_old: number;
}

/** The counts as commands show them. */
export function takenInView({ added, known, tooOld }: Appended): TakenInView {
  return { imported: added, known, too_old: tooOld };
}
