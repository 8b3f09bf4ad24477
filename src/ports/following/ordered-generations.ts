import type { StoredGeneration } from '../generations/generations.ts';
import type { RowPlace } from './settled-rows.ts';

/** Generations behind a place. */
export interface GenerationPage {
  readonly generations: readonly StoredGeneration[];
  /** Behind the last one; the place that was asked for if there are none. */
  readonly place: RowPlace | null;
}

/**
 * Rows of all generations in the order in which they became visible: none appears before a place that was reached.
 * Null is the place before all.
 */
export interface OrderedGenerations {
  /** Behind all that are visible now. */
  end(): Promise<RowPlace | null>;
  /**
   * At most `limit` generations behind a place; fewer only at the end. Undefined if the place is not valid any more:
   * its row is gone, or the database is another one.
   */
  behind(place: RowPlace | null, limit: number): Promise<GenerationPage | undefined>;
  /**
   * Where generations end that this process has added, in this order, if they come right behind a place; there may be
   * more behind them, which are being added. Undefined if that is not so, or not known.
   */
  endOf(place: RowPlace | null, added: readonly { readonly id: string }[]): Promise<RowPlace | undefined>;
}
