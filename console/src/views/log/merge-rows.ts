import type { ShownGeneration } from './shown-generation.ts';

/** A row of the list: a generation, or the day of those that follow. */
export type LogRow =
  | { readonly kind: 'day'; readonly atMs: number }
  | { readonly kind: 'generation'; readonly generation: ShownGeneration };

/** Rows of two answers, newest first, each generation once: as `loaded` has it if both have it. */
export function mergedRows<Row extends Pick<ShownGeneration, 'id' | 'created_at'>>(
  fresh: readonly Row[],
  loaded: readonly Row[],
): readonly Row[] {
  if (fresh.length === 0) return loaded;
  const known = new Set(loaded.map(({ id }) => id));
  const added = fresh.filter(({ id }) => !known.has(id));
  if (added.length === 0) return loaded;
  return [...added, ...loaded].sort(newestFirst);
}

function newestFirst(
  one: Pick<ShownGeneration, 'id' | 'created_at'>,
  other: Pick<ShownGeneration, 'id' | 'created_at'>,
): number {
  if (one.created_at !== other.created_at) return one.created_at < other.created_at ? 1 : -1;
  return one.id < other.id ? 1 : -1;
}

/** The rows with a row before each day, in the reader's zone. */
export function withDays(rows: readonly ShownGeneration[]): readonly LogRow[] {
  const listed: LogRow[] = [];
  let day = '';
  for (const generation of rows) {
    const atMs = Date.parse(generation.created_at);
    const next = new Date(atMs).toDateString();
    if (next !== day) listed.push({ kind: 'day', atMs });
    day = next;
    listed.push({ kind: 'generation', generation });
  }
  return listed;
}

/** The rows alone: those that are not in the order of their times. */
export function withoutDays(rows: readonly ShownGeneration[]): readonly LogRow[] {
  return rows.map((generation) => ({ kind: 'generation', generation }));
}
