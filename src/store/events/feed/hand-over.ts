import { setTimeout as delay } from 'node:timers/promises';
import type { StoredGeneration } from '../../../ports/generations.ts';
import { addInHalves } from '../../ledger/projection/add-in-halves.ts';
import type { GenerationSink } from '../projection/event-projection.ts';

/** Generations that follow a place, and where they end; undefined when there are none. */
export interface RowPage<Place> {
  readonly generations: readonly StoredGeneration[];
  readonly end: Place | undefined;
}

/** How generations come from their rows to a projection. */
export interface HandingOver<Place> {
  readonly behind: Place;
  /** At most `limit` generations behind a place; fewer when there are no more. */
  read(behind: Place, limit: number): Promise<RowPage<Place>>;
  readonly projection: GenerationSink;
  /** Is told of each place up to which the projection has everything. */
  reached(place: Place): Promise<void>;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  readonly signal: AbortSignal;
}

/** Rows that are read at once: few enough that nobody waits because of it. */
const PAGE = 200;

/** Generations that are handed over at once. */
const BATCH = 1_000;

/** Between pages everybody else has a turn, milliseconds. */
const PAUSE_MS = 1;

/** Hands over all generations behind a place, until there are no more. Rejects when the signal is aborted. */
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
