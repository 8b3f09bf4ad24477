import type { AppTotals, DayWindow } from '../../../ports/events.ts';
import type { DuckdbThread } from './duckdb-thread.ts';
import { APP_SUMS, DAY_MS } from './schema.ts';
import type { Statement } from './statement.ts';

/** Answers that are remembered. */
const MAX_ANSWERS = 8;

/** Apps in all of them together: more would take more memory than they save time. */
const MAX_APPS = 400_000;

interface Remembered {
  readonly windows: readonly DayWindow[];
  /** Undefined while it is being looked for. */
  readonly totals: AppTotals | undefined;
}

/**
 * What was last found of apps. Most windows are of days that are over, and what was used on them changes no more; what does
 * change is forgotten.
 */
export class AppTotalsMemory {
  /** By windows, the one unused longest first. */
  readonly #answers = new Map<string, Remembered>();

  /** What is remembered, or else what is looked for, remembered unless it may have changed meanwhile. */
  async of(windows: readonly DayWindow[], look: () => Promise<AppTotals>): Promise<AppTotals> {
    const key = windows.map(({ startMs, endMs }) => `${startMs}-${endMs}`).join();
    const known = this.#answers.get(key)?.totals;
    if (known !== undefined) {
      this.#remember(key, { windows, totals: known });
      return known;
    }
    const looking: Remembered = { windows, totals: undefined };
    this.#remember(key, looking);
    const totals = await look();
    const isRoom = totals.apps.length <= MAX_APPS;
    if (isRoom && this.#answers.get(key) === looking) this.#remember(key, { windows, totals });
    return totals;
  }

  /** Events of these moments were added, or may have been. */
  changed(firstMs: number, lastMs: number): void {
    for (const [key, { windows }] of this.#answers) {
      if (windows.some(({ startMs, endMs }) => startMs <= lastMs && firstMs < endMs))
        this.#answers.delete(key);
    }
  }

  #remember(key: string, answer: Remembered): void {
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

/** The apps of the file by their place in it, as far as they were asked for. Places are given in turn and for good. */
export class KnownApps {
  readonly #apps: string[] = [];

  /** The apps at places that the file has. Those that are not known yet are read from it, all at once. */
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

/** Days of 1970 on: the first, and the one after the last. */
interface DayRange {
  readonly first: number;
  readonly end: number;
}

/** Days whose sums are read from one table. */
interface Piece extends DayRange {
  readonly table: string;
}

const SUMMED = ['tokens', 'requests'] as const;

/** A statement for the sums of apps. Its columns: place of the app, then tokens of each window, then requests of each. */
export function appTotalsSql(windows: readonly DayWindow[]): Statement {
  const columns = SUMMED.flatMap((name) => windows.map((_, window) => ({ name, window })));
  // Each window has columns of its own, in which the rows of others are 0: so every row is added up once.
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

/** Reads whole spans of days where a range has some, and what is before and after them from the spans below. */
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
