import { setTimeout as delay } from 'node:timers/promises';
import type { StoredGeneration } from '../../../ports/generations.ts';
import { addInHalves } from '../../ledger/projection/add-in-halves.ts';
import type { GenerationSink } from '../projection/event-projection.ts';

/** Generations after a position, and the position of the last one; undefined when there are none. */
export interface RowPage<Place> {
  readonly generations: readonly StoredGeneration[];
  readonly end: Place | undefined;
}

/** Source, target and progress of a handover from rows to a projection. */
export interface HandingOver<Place> {
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
const PAGE = 200;

/** Generations per batch. */
const BATCH = 1_000;

/** Pause between pages, so that other work gets its turn, milliseconds. */
const PAUSE_MS = 1;

/** Hands over all generations after a position. Rejects when the signal is aborted. */
export async function handOver<Place>(handing: HandingOver<Place>): Promise<void> {
  let { behind } = handing;
  for (let isLast = false; !isLast; ) {
    const batch: StoredGeneration[] = [];
    while (!isLast && batch.length < BATCH) {
      handing.signal.throwIfAborted();
      const { generations, end = behind } = await handing.read(behind, PAGE);
      batch.push(...generations);
      behind = end;
      isLast = generations.length < PAGE;
      if (!isLast) await delay(PAUSE_MS);
    }
    if (batch.length === 0) return;
    await addAll(handing, batch);
    await handing.reached(behind);
  }
}

async function addAll<Place>(
  { projection, signal, warn }: HandingOver<Place>,
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
