import type { Clock } from '../kit/time/clock.ts';
import type { FollowedGeneration, Follower } from '../ports/following/follower.ts';
import type { RowPlace, RowRange, SettledRows } from '../ports/following/settled-rows.ts';
import type { SpooledContents } from '../ports/following/spooled-contents.ts';
import type { StoredGeneration } from '../ports/generations/generations.ts';

export interface BatchSources {
  readonly rows: SettledRows;
  readonly contents: SpooledContents;
  readonly clock: Clock;
  /** How long generations are held for a follower that reads content, which may be written after the row. */
  readonly holdMs?: number;
}

/** The next generations of a follower. */
export interface ReadBatch {
  readonly generations: readonly FollowedGeneration[];
  /** Behind the last one. */
  readonly place: RowPlace;
  /** Younger ones are held. */
  readonly isHeld: boolean;
}

/** Rows that are read at once: few enough not to block the event loop. */
const PAGE_ROWS = 100;

/** Characters of contents that are read at once. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

const HOLD_MS = 2_000;

/** Reads the first generations of a range, with their contents if they are read. */
export async function readBatch(
  { rows, contents, clock, holdMs = HOLD_MS }: BatchSources,
  range: RowRange,
  { batchSize, readsContent }: Pick<Follower, 'batchSize' | 'readsContent'>,
): Promise<ReadBatch> {
  const read: StoredGeneration[] = [];
  let place = range.behind;
  while (read.length < batchSize && place !== range.until) {
    const page = await rows.read({ ...range, behind: place }, Math.min(PAGE_ROWS, batchSize - read.length));
    read.push(...page.generations);
    place = page.place;
    // Before the first row of all, a place may never be that of the end.
    if (page.generations.length === 0) break;
  }
  if (!readsContent || read.length === 0) {
    const generations = read.map((generation) => ({ generation, content: undefined }));
    return { generations, place, isHeld: false };
  }
  const old = read.slice(0, countOld(read, clock.now(), holdMs));
  const found = await contents.find(
    old.map(({ id }) => id),
    MAX_CHARACTERS,
  );
  const generations = old
    .slice(0, found.lookedUp)
    .map((generation) => ({ generation, content: found.contents.get(generation.id) }));
  const isWhole = generations.length === read.length;
  return {
    generations,
    place: isWhole ? place : await rows.skip(range, generations.length),
    isHeld: old.length < read.length && generations.length === old.length,
  };
}

/** How many of the first generations are old enough for their content to be there. */
function countOld(generations: readonly StoredGeneration[], nowMs: number, holdMs: number): number {
  const young = generations.findIndex(({ settledAtMs }) => Math.abs(nowMs - settledAtMs) < holdMs);
  return young === -1 ? generations.length : young;
}
