import { setTimeout as delay } from 'node:timers/promises';
import type { StoredGeneration } from '../../../ports/generations.ts';
import { addInHalves } from '../../ledger/projection/add-in-halves.ts';
import type { GenerationSink } from '../projection/event-projection.ts';

/** Generations after a position, and the position of the last one; undefined when there are none. */
export interface RowPage<Place> {
  readonly generations: readonly StoredGeneration[];
  readonly end: Place | undefined;
}

/** Source, target and progress of feeding rows to a projection. */
export interface RowFeeding<Place> {
  readonly behind: Place;
  /** At most `limit` generations after a position; fewer only at the end. */
  read(behind: Place, limit: number): Promise<RowPage<Place>>;
  readonly projection: GenerationSink;
  /** Called with each position up to which the projection has everything. */
  reached(place: Place): Promise<void>;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  readonly signal: AbortSignal;
}

/** Rows per read: few enough not to block the event loop. */
const PAGE_ROWS = 200;

const BATCH_GENERATIONS = 1_000;

/** Pause between pages, so that other work gets its turn, milliseconds. */
const PAUSE_MS = 1;

/** Feeds all generations after a position. Rejects when the signal is aborted. */
export async function feedRows<Place>(feeding: RowFeeding<Place>): Promise<void> {
  let { behind } = feeding;
  for (let isLast = false; !isLast; ) {
    const batch: StoredGeneration[] = [];
    while (!isLast && batch.length < BATCH_GENERATIONS) {
      feeding.signal.throwIfAborted();
      const { generations, end = behind } = await feeding.read(behind, PAGE_ROWS);
      batch.push(...generations);
      behind = end;
      isLast = generations.length < PAGE_ROWS;
      if (!isLast) await delay(PAUSE_MS);
    }
    if (batch.length === 0) return;
    await addAll(feeding, batch);
    await feeding.reached(behind);
  }
}

async function addAll<Place>(
  { projection, signal, warn }: RowFeeding<Place>,
  batch: readonly StoredGeneration[],
): Promise<void> {
  await addInHalves(
    batch,
    async (generations) => {
      signal.throwIfAborted();
      await projection.add(generations);
    },
    ({ id }, error) =>
      warn(`the generation ${id} can never be in the projection ${projection.name} and is left out`, {
        generation_id: id,
        error,
      }),
  );
}
