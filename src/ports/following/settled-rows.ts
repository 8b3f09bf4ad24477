import type { StoredGeneration } from '../generations/generations.ts';

/** A position among settled generations. What is in it only the store knows; equal positions are equal texts. */
export type RowPlace = string;

/** The generations of a workspace between two places. */
export interface RowRange {
  readonly workspaceId: string;
  readonly behind: RowPlace;
  /** An end of all rows. */
  readonly until: RowPlace;
}

export interface SettledPage {
  readonly generations: readonly StoredGeneration[];
  /** Behind the last one; the end of the range if there are no more. */
  readonly place: RowPlace;
}

/** Rows of generations in the order in which they became visible: none appears before a place that was reached. */
export interface SettledRows {
  /**
   * The place of a follower that has taken nothing: behind what was settled before a moment. From now on the rows of
   * the workspace are kept in order.
   */
  begin(workspaceId: string, sinceMs: number): Promise<RowPlace>;
  /** Behind all that are visible now. */
  end(): Promise<RowPlace>;
  /** The first generations of a range, at most `limit`. */
  read(range: RowRange, limit: number): Promise<SettledPage>;
  /** How many generations are in a range, up to `atMost`. */
  count(range: RowRange, atMost: number): Promise<number>;
  /** The place behind the first `count` generations of a range, or its end. */
  skip(range: RowRange, count: number): Promise<RowPlace>;
  /** Forgets the order of rows that no follower will read: its workspaces, with the places of their followers. */
  release(places: ReadonlyMap<string, readonly RowPlace[]>): Promise<void>;
}
