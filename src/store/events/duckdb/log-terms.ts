import type { LogFilter } from '../../../ports/events/events.ts';
import { DAY_MS } from '../daily-sums.ts';
import { type OwnTraceTerm, searchedTrace, traceTermOf } from '../log-traces.ts';
import type { DuckdbThread } from './driver/duckdb-thread.ts';
import { type Bind, binder, type Statement } from './driver/statement.ts';

/**
 * What a filter means in the file, looked up before many events are read: to compare the number of a series with a
 * list takes half as long as to join it, and ids need not be read if none is the text searched for.
 */
export interface LogTerms {
  readonly series: SeriesTerm;
  /** Whether a generation of the part has the text searched for as its id. */
  readonly isId: boolean;
  /** Whether a generation of the part has one of the traces searched for as its own. */
  readonly hasOwnTrace: boolean;
}

/**
 * Which series match: `all` up to a place, as in the file of a single account; those `listed`; or too `many` for a
 * list.
 */
export type SeriesTerm =
  | { readonly kind: 'all'; readonly last: number }
  | { readonly kind: 'listed'; readonly places: readonly number[] }
  | { readonly kind: 'many' };

type Range = Pick<LogFilter, 'fromMs' | 'toMs'>;

const MAX_LISTED_SERIES = 1_000;

/** Length from which on the terms are looked up: shorter parts are read in about the same time. */
const LONG_RANGE_MS = DAY_MS;

/** An id of ours is searched by its beginning: most columns need not be read then. */
const OWN_ID = /^gen-/;

/** Whether a text is searched for in other columns than the id. */
export function isSearchedEverywhere(search: string | null): search is string {
  return search !== null && search !== '' && !OWN_ID.test(search);
}

type Thread = Pick<DuckdbThread, 'query'>;

/** Looks up the terms of a filter for the parts of its range. */
export class LogTermsReader {
  readonly #thread: Thread;
  readonly #filter: LogFilter;
  readonly #signal: AbortSignal | undefined;
  /** Undefined until it is looked up. */
  #series: SeriesTerm | undefined;

  constructor(thread: Thread, filter: LogFilter, signal: AbortSignal | undefined) {
    this.#thread = thread;
    this.#filter = filter;
    this.#signal = signal;
  }

  /** Null = the part is so short that it is read without them. */
  async of(part: Range): Promise<LogTerms | null> {
    if (part.toMs - part.fromMs < LONG_RANGE_MS) return null;
    this.#series ??= await this.#readSeries();
    return {
      series: this.#series,
      isId: await this.#isId(part),
      hasOwnTrace: await this.#hasOwnTrace(part),
    };
  }

  /** The terms of a question that names neither a text to search for nor a trace. */
  async ofSeries(): Promise<LogTerms> {
    this.#series ??= await this.#readSeries();
    return { series: this.#series, isId: false, hasOwnTrace: false };
  }

  async #readSeries(): Promise<SeriesTerm> {
    const [counted] = await this.#thread.query(countSeriesSql(this.#filter), this.#signal);
    const [last = 0, all = 0, matching = 0] = (counted ?? []).map(Number);
    if (matching === all) return { kind: 'all', last };
    if (matching > MAX_LISTED_SERIES) return { kind: 'many' };
    const rows = await this.#thread.query(placesSql(this.#filter), this.#signal);
    return { kind: 'listed', places: rows.map(([place]) => Number(place)) };
  }

  async #isId(part: Range): Promise<boolean> {
    const { search } = this.#filter;
    if (!isSearchedEverywhere(search)) return false;
    return (await this.#thread.query(idSql(part, search), this.#signal)).length > 0;
  }

  async #hasOwnTrace({ fromMs, toMs }: Range): Promise<boolean> {
    const inPart = ownTracesOf(this.#filter).filter((own) => own.fromMs < toMs && own.beforeMs > fromMs);
    if (inPart.length === 0) return false;
    return (await this.#thread.query(ownTraceSql(inPart), this.#signal)).length > 0;
  }
}

function ownTracesOf({ traceIds, search }: LogFilter): OwnTraceTerm[] {
  const terms = traceIds.map(traceTermOf);
  if (isSearchedEverywhere(search)) terms.push(searchedTrace(search));
  return terms.flatMap(({ own }) => own ?? []);
}

/** Finds a generation by its own trace. Its second comes first: hashes of few ids are computed. */
export function ownTraceCondition({ fromMs, beforeMs, digits, place }: OwnTraceTerm, bind: Bind): string {
  return `(created_ms >= ${bind(BigInt(fromMs))} AND created_ms < ${bind(BigInt(beforeMs))} AND trace_id IS NULL
    AND substr(sha256(id), ${place}, ${digits.length}) = ${bind(digits)})`;
}

/** Asked by itself: DuckDB then skips blocks by the first and last time in them. */
function ownTraceSql(wanted: readonly OwnTraceTerm[]): Statement {
  const { bind, parameters } = binder();
  const least = Math.min(...wanted.map(({ fromMs }) => fromMs));
  const last = Math.max(...wanted.map(({ beforeMs }) => beforeMs));
  const sql = `SELECT 1 FROM events WHERE created_ms >= ${bind(BigInt(least))} AND created_ms < ${bind(BigInt(last))}
    AND (${wanted.map((own) => ownTraceCondition(own, bind)).join(' OR ')}) LIMIT 1`;
  return { sql, parameters };
}

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

function countSeriesSql(filter: LogFilter): Statement {
  const { bind, parameters } = binder();
  const sql = `SELECT coalesce(max(place), 0), count(*), count(*) FILTER (${seriesConditions(filter, bind)}) FROM series`;
  return { sql, parameters };
}

function placesSql(filter: LogFilter): Statement {
  const { bind, parameters } = binder();
  return { sql: `SELECT place FROM series WHERE ${seriesConditions(filter, bind)}`, parameters };
}

/** Asked by itself: DuckDB then skips blocks by the first and last id in them. */
function idSql({ fromMs, toMs }: Range, search: string): Statement {
  const { bind, parameters } = binder();
  const sql = `SELECT 1 FROM events WHERE id = ${bind(search)} AND created_ms >= ${bind(BigInt(fromMs))}
    AND created_ms < ${bind(BigInt(toMs))} LIMIT 1`;
  return { sql, parameters };
}
