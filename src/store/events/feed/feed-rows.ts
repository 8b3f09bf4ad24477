import { setTimeout as delay } from 'node:timers/promises';
import type { OrderedGenerations } from '../../../ports/following/ordered-generations.ts';
import type { RowPlace } from '../../../ports/following/settled-rows.ts';
import { addInHalves } from '../../ledger/projection/add-in-halves.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';
import type { EventItem, EventProjection } from '../projection/event-projection.ts';

/** What rows are fed to, and what stops it. */
export interface RowFeeding {
  readonly rows: Pick<OrderedGenerations, 'behind'>;
  readonly projection: EventProjection;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  readonly signal: AbortSignal;
}

/** Rows that are to be fed together. */
export interface RowBatch {
  readonly items: readonly EventItem[];
  /** Behind the last one. */
  readonly place: RowPlace | null;
  /** Whether there were no more. */
  readonly isLast: boolean;
}

/** The rows could not be read because the database does not answer. Not logged here: requests log it. */
export class RowsUnavailable extends Error {}

/** Rows per read: few enough not to block the event loop. */
const PAGE_ROWS = 200;

/** Pause between pages, so that other work gets its turn, milliseconds. */
const PAUSE_MS = 1;

/**
 * Reads about `size` rows behind a place. Undefined if the place is not valid any more. Rejects with RowsUnavailable
 * when the database does not answer, and when the signal is aborted.
 */
export async function readBatch(
  { rows, projection, warn, signal }: RowFeeding,
  behind: RowPlace | null,
  size: number,
): Promise<RowBatch | undefined> {
  const items: EventItem[] = [];
  let place = behind;
  for (;;) {
    signal.throwIfAborted();
    const page = await answered(rows.behind(place, PAGE_ROWS));
    if (page === undefined) return undefined;
    for (const generation of page.generations) {
      try {
        items.push(projection.of(generation));
      } catch (error) {
        warnOfLeftOut(warn, generation, error);
      }
    }
    place = page.place;
    const isLast = page.generations.length < PAGE_ROWS;
    if (isLast || items.length >= size) return { items, place, isLast };
    await delay(PAUSE_MS);
  }
}

/** Feeds a batch. Generations that can never be events are left out, with a warning. */
export async function feedBatch(
  { projection, warn, signal }: RowFeeding,
  items: readonly EventItem[],
): Promise<void> {
  await addInHalves(
    items,
    async (some) => {
      signal.throwIfAborted();
      await projection.add(some);
    },
    (item, error) => warnOfLeftOut(warn, item, error),
  );
}

function warnOfLeftOut(warn: RowFeeding['warn'], { id }: { readonly id: string }, error: unknown): void {
  warn(
    `the generation ${id} can never be counted in analytics and is left out; its charge is in the ledger`,
    {
      generation_id: id,
      error,
    },
  );
}

/** What the database answers. Rejects with RowsUnavailable instead of DatabaseUnavailable. */
export async function answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    throw new RowsUnavailable('the rows of generations cannot be read', { cause: error });
  }
}
