import type { StoredGeneration } from '../generations.ts';

/** A position among settled generations. What is in it only the store knows. */
export type RowPlace = string;

/** Generations behind a place. */
export interface SettledPage {
  readonly generations: readonly StoredGeneration[];
  /** Behind the last one; the given place if there are none. */
  readonly place: RowPlace;
}

/** Rows of generations in the order in which they became visible: none appears before a place that was reached. */
export interface SettledRows {
  /** At most `limit` generations behind a place. */
  behind(place: RowPlace, limit: number): Promise<SettledPage>;
  /** Behind all that are visible now. */
  end(): Promise<RowPlace>;
  /** How many generations of a workspace are behind a place, up to `atMost`. */
  waiting(place: RowPlace, workspaceId: string, atMost: number): Promise<number>;
}
