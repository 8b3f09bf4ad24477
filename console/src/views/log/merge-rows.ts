import type { LoggedGenerationObject } from '../../api/contract.ts';

/** A row of the list: a generation, or the day of those that follow. */
export type LogRow =
  | { readonly kind: 'day'; readonly atMs: number }
  | { readonly kind: 'generation'; readonly generation: LoggedGenerationObject };

/** Rows of several answers, newest first, each generation once. */
export function mergedRows(
  fresh: readonly LoggedGenerationObject[],
  loaded: readonly LoggedGenerationObject[],
): readonly LoggedGenerationObject[] {
  const known = new Set(loaded.map(({ id }) => id));
  const added = fresh.filter(({ id }) => !known.has(id));
  if (added.length === 0) return loaded;
  return [...added, ...loaded].sort(newestFirst);
}

function newestFirst(one: LoggedGenerationObject, other: LoggedGenerationObject): number {
  if (one.created_at !== other.created_at) return one.created_at < other.created_at ? 1 : -1;
  return one.id < other.id ? 1 : -1;
}

/** The rows with a row before each day, in the reader's zone. */
export function withDays(rows: readonly LoggedGenerationObject[]): readonly LogRow[] {
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
