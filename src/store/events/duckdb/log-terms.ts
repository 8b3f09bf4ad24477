import type { LogFilter } from '../../../ports/events.ts';
import { DAY_MS } from '../daily-sums.ts';
import type { DuckdbThread } from './duckdb-thread.ts';
import { type Bind, binder, type Statement } from './statement.ts';

/**
 * What a filter means in the file, looked up before many events are read: to compare the number of a series with a
 * list takes half as long as to join it, and ids need not be read if none is the text searched for.
 */
export interface LogTerms {
  /** Places of the series that match; null = too many for a list. */
  readonly places: readonly number[] | null;
  /** Whether a generation of the range has the text searched for as its id. */
  readonly isId: boolean;
}

/** Most series in a list. */
const MAX_LISTED_SERIES = 1_000;

/** Ranges from which on the terms are looked up: shorter ones are read in about the same time. */
const LONG_RANGE_MS = DAY_MS;

/** An id of ours is searched by its beginning: most columns need not be read then. */
const OWN_ID = /^gen-/;

/** Whether a text is searched for in other columns than the id. */
export function isSearchedEverywhere(search: string | null): search is string {
  return search !== null && search !== '' && !OWN_ID.test(search);
}

export function isLongRange({ fromMs, toMs }: Pick<LogFilter, 'fromMs' | 'toMs'>): boolean {
  return toMs - fromMs >= LONG_RANGE_MS;
}

/** Looks up the terms of a filter. */
export async function readLogTerms(
  thread: Pick<DuckdbThread, 'query'>,
  filter: LogFilter,
  signal: AbortSignal | undefined,
): Promise<LogTerms> {
  const rows = await thread.query(placesSql(filter), signal);
  const places = rows.map(([place]) => Number(place));
  const isId =
    isSearchedEverywhere(filter.search) &&
    (await thread.query(idSql(filter, filter.search), signal)).length > 0;
  return { places: places.length > MAX_LISTED_SERIES ? null : places, isId };
}

/** Conditions on series. */
export function seriesConditions(filter: LogFilter, bind: Bind): string {
  const isAnyOf = (column: string, values: readonly string[]): string[] =>
    values.length === 0 ? [] : [`${column} IN (${values.map(bind).join(', ')})`];
  return [
    `account_id = ${bind(filter.accountId)}`,
    ...isAnyOf('model_id', filter.models),
    ...isAnyOf('provider', filter.providers),
    ...isAnyOf('key_hash', filter.keys),
    ...isAnyOf('workspace_id', filter.workspaces),
    ...isAnyOf('app', filter.apps),
  ].join(' AND ');
}

function placesSql(filter: LogFilter): Statement {
  const { bind, parameters } = binder();
  const sql = `SELECT place FROM series WHERE ${seriesConditions(filter, bind)} LIMIT ${MAX_LISTED_SERIES + 1}`;
  return { sql, parameters };
}

/** Asked by itself: DuckDB then skips blocks by the first and last id in them. */
function idSql({ fromMs, toMs }: LogFilter, search: string): Statement {
  const { bind, parameters } = binder();
  const sql = `SELECT 1 FROM events WHERE id = ${bind(search)} AND created_ms >= ${bind(BigInt(fromMs))}
    AND created_ms < ${bind(BigInt(toMs))} LIMIT 1`;
  return { sql, parameters };
}
