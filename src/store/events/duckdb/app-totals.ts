import type { AppTotals, DayWindow } from '../../../ports/events/events.ts';
import { DAY_MS } from '../daily-sums.ts';
import type { DuckdbThread } from './driver/duckdb-thread.ts';
import type { Statement } from './driver/statement.ts';
import { APP_SUMS } from './schema.ts';

const MAX_ANSWERS = 8;

/** Maximum of apps in all cached answers: bounds their memory. */
const MAX_APPS = 400_000;

interface CachedTotals {
  readonly windows: readonly DayWindow[];
  /** Undefined while the query runs. */
  readonly totals: AppTotals | undefined;
}

/**
 * Cache of app totals. Most windows cover past days, whose totals no longer change; answers whose windows get new
 * events are dropped.
 */
export class AppTotalsCache {
  /** Answers by windows, least recently used first. */
  readonly #answers = new Map<string, CachedTotals>();

  /** The cached answer, or that of `query`, which is cached unless its windows changed meanwhile. */
  async of(windows: readonly DayWindow[], query: () => Promise<AppTotals>): Promise<AppTotals> {
    const key = windows.map(({ startMs, endMs }) => `${startMs}-${endMs}`).join();
    const known = this.#answers.get(key)?.totals;
    if (known !== undefined) {
      this.#store(key, { windows, totals: known });
      return known;
    }
    const pending: CachedTotals = { windows, totals: undefined };
    this.#store(key, pending);
    const totals = await query();
    const isRoom = totals.apps.length <= MAX_APPS;
    if (isRoom && this.#answers.get(key) === pending) this.#store(key, { windows, totals });
    return totals;
  }

  /** Call after events in this range may have been added. */
  changed(firstMs: number, lastMs: number): void {
    for (const [key, { windows }] of this.#answers) {
      if (windows.some(({ startMs, endMs }) => startMs <= lastMs && firstMs < endMs))
        this.#answers.delete(key);
    }
  }

  #store(key: string, answer: CachedTotals): void {
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_ANSWERS && this.#apps() <= MAX_APPS) return;
      this.#answers.delete(oldest);
    }
  }

  #apps(): number {
    let apps = 0;
    for (const { totals } of this.#answers.values()) apps += totals?.apps.length ?? 0;
    return apps;
  }
}

/** Names of apps by their place in the file, read on demand. Places are assigned in order and never change. */
export class KnownApps {
  readonly #apps: string[] = [];

  /** The apps at existing places. Unknown ones are read from the file in one query. */
  async at(places: ArrayLike<number>, thread: DuckdbThread, signal?: AbortSignal): Promise<string[]> {
    if (!this.#knows(places)) await this.#read(thread, signal);
    return Array.from(places, (place) => this.#apps[place] ?? '');
  }

  #knows(places: ArrayLike<number>): boolean {
    for (let index = 0; index < places.length; index++) {
      if (this.#apps[places[index] ?? 0] === undefined) return false;
    }
    return true;
  }

  async #read(thread: DuckdbThread, signal?: AbortSignal): Promise<void> {
    const known = BigInt(this.#apps.length);
    const sql = 'SELECT place, app FROM apps WHERE place >= $known::BIGINT';
    const [places = [], apps = []] = await thread.columns({ sql, parameters: { known } }, signal);
    for (let index = 0; index < places.length; index++) {
      this.#apps[Number(places[index])] = String(apps[index]);
    }
  }
}

/** A range of days since 1970: first, and the one after the last. */
interface DayRange {
  readonly first: number;
  readonly end: number;
}

/** A range of days to read from one table. */
interface Piece extends DayRange {
  readonly table: string;
}

const SUMMED = ['tokens', 'requests'] as const;

/** The query for app totals. Columns: place of the app, then tokens of each window, then requests of each. */
export function appTotalsSql(windows: readonly DayWindow[]): Statement {
  const columns = SUMMED.flatMap((name) => windows.map((_, window) => ({ name, window })));
  // Each window has its own columns, which are 0 in rows of other windows, so that every row is summed once.
  const pieces = windows.flatMap(({ startMs, endMs }, ofPiece) => {
    const range = { first: Math.ceil(startMs / DAY_MS), end: Math.ceil(endMs / DAY_MS) };
    const padded = columns.map(
      ({ name, window }) => `${window === ofPiece ? name : '0::BIGINT'} AS ${name}${window}`,
    );
    return [{ table: APP_SUMS[0].added, ...range }, ...piecesOf(range, APP_SUMS.length - 1)].map(
      ({ table, first, end }) => `SELECT app_place, ${padded.join(', ')} FROM ${table}
        WHERE first_day >= ${first} AND first_day < ${end}`,
    );
  });
  const sums = columns.map(({ name, window }) => `sum(${name}${window})::BIGINT`);
  const sql = `SELECT app_place, ${sums.join(', ')} FROM (${pieces.join(' UNION ALL ')})
    GROUP BY app_place HAVING sum(requests0) > 0`;
  return { sql, parameters: {} };
}

/** Covers a range with whole spans of a level, and the rest before and after them with spans of the level below. */
function piecesOf({ first, end }: DayRange, level: number): Piece[] {
  const sums = APP_SUMS[level];
  if (sums === undefined || first >= end) return [];
  const { table, days } = sums;
  const spansFrom = Math.ceil(first / days) * days;
  const spansTo = Math.floor(end / days) * days;
  if (spansFrom >= spansTo) return piecesOf({ first, end }, level - 1);
  return [
    ...piecesOf({ first, end: spansFrom }, level - 1),
    { table, first: spansFrom, end: spansTo },
    ...piecesOf({ first: spansTo, end }, level - 1),
  ];
}
