import type { Appended } from '../../../ports/events/events.ts';
import { DAILY_SUMS, DAY_MS } from '../daily-sums.ts';
import type { DuckdbRows } from './driver/duckdb-thread.ts';
import { plain, type Statement } from './driver/statement.ts';
import {
  APPS_ADDED,
  DAILY,
  EVENT_COLUMNS,
  PRUNED_BEFORE,
  SERIES_COLUMNS,
  STAGED_TABLES,
  sumsOf,
} from './schema.ts';

/** Tables of events to insert, with the columns of `STAGED_TABLES`. */
export interface EventSource {
  readonly events: string;
  readonly series: string;
  /** Maps an event's series number (`staged_place`) to the series' place in this file. */
  readonly places: string;
}

/** Events of `append`. Their series numbers are places in this file already. */
export const STAGED: EventSource = {
  events: 'staged_events',
  series: 'staged_series',
  places: '(SELECT place AS staged_place, place, app_place, is_zdr FROM series)',
};

/** Recreates the staging table of events, without leftovers of a failed append. */
export const MAKE_STAGED_EVENTS = `CREATE OR REPLACE TEMP TABLE ${STAGED.events} (${STAGED_TABLES.events.join(', ')})`;

/** Recreates the staging table of series. */
export const MAKE_STAGED_SERIES = `CREATE OR REPLACE TEMP TABLE ${STAGED.series} (${STAGED_TABLES.series.join(', ')})`;

/** Places of the series that `placeSeriesSql` found or added, with their staged numbers. */
export const PLACES = 'SELECT place, staged_place FROM placed';

const dayOf = (moment: string) => `(${moment}::BIGINT // ${DAY_MS})::INTEGER`;
const nextPlace = (table: string) =>
  `(SELECT coalesce(max(place), 0) FROM ${table}) + row_number() OVER () AS place`;

/** Statements that assign places to new apps and series, and create the table `placed`. */
export function placeSeriesSql({ series }: EventSource): readonly string[] {
  return [
    `INSERT INTO apps SELECT ${nextPlace('apps')}, app FROM (
      SELECT DISTINCT app FROM ${series} WHERE app IS NOT NULL) ANTI JOIN apps USING (app)`,
    `INSERT INTO series (place, key, app_place, ${SERIES_COLUMNS.join(', ')})
      SELECT ${nextPlace('series')}, key, apps.place, ${SERIES_COLUMNS.map((name) => `staged.${name}`).join(', ')}
      FROM ${series} AS staged LEFT JOIN apps USING (app) ANTI JOIN series USING (key)`,
    `CREATE OR REPLACE TEMP TABLE placed AS SELECT staged.place::INTEGER AS staged_place, series.place,
      app_place, series.is_zdr FROM ${series} AS staged JOIN series USING (key)`,
  ];
}

/** Selects events that are known or too old. `$first` and `$last` bound the times among which ids are searched. */
function leaveOutSql({ events }: EventSource): string {
  return `CREATE OR REPLACE TEMP TABLE left_out AS
    SELECT rowid AS row, created_ms < (${PRUNED_BEFORE}) AS is_too_old FROM ${events}
    WHERE created_ms < (${PRUNED_BEFORE}) OR id IN (
      SELECT id FROM events WHERE created_ms BETWEEN $first::BIGINT AND $last::BIGINT)`;
}

/** Counts all events, known ones and too old ones. */
function countLeftOutSql({ events }: EventSource): string {
  return `SELECT (SELECT count(*) FROM ${events}), count(*) FILTER (NOT is_too_old),
    count(*) FILTER (is_too_old) FROM left_out`;
}

/** Statements that insert the remaining events. */
function insertSql({ events, places }: EventSource): readonly string[] {
  const fresh = `${events} AS staged JOIN ${places} AS places ON staged_place = staged.series::INTEGER
    WHERE staged.rowid NOT IN (SELECT row FROM left_out)`;
  return [
    `INSERT INTO events (series, ${EVENT_COLUMNS.join(', ')}) SELECT places.place, ${EVENT_COLUMNS.join(', ')}
      FROM ${fresh}`,
    `INSERT INTO ${DAILY.added} SELECT ${dayOf('created_ms')} AS first_day, places.place AS series,
      count(*) AS requests, ${sumsOf(DAILY_SUMS)} FROM ${fresh} AND refused_requests IS NULL GROUP BY ALL`,
    `INSERT INTO ${APPS_ADDED.added} SELECT ${dayOf('created_ms')} AS first_day, app_place,
        count(*) AS requests, sum(prompt_tokens::BIGINT + completion_tokens::BIGINT) AS tokens
      FROM ${fresh} AND refused_requests IS NULL AND app_place IS NOT NULL AND NOT is_zdr GROUP BY ALL`,
  ];
}

/** Range of times among which ids are searched. */
export interface Moments extends Readonly<Record<string, bigint>> {
  readonly first: bigint;
  readonly last: bigint;
}

/** Statements that insert events whose series have places. `appendedOf` reads their results. */
export function insertStatements(source: EventSource, moments: Moments): readonly Statement[] {
  return [
    { sql: leaveOutSql(source), parameters: moments },
    plain(countLeftOutSql(source)),
    plain(insertSql(source).join(';')),
  ];
}

/** The outcome in the results of `insertStatements`. */
export function appendedOf([, counted]: readonly DuckdbRows[]): Appended {
  const [all = 0, known = 0, tooOld = 0] = (counted?.[0] ?? []).map(Number);
  return { added: all - known - tooOld, known, tooOld };
}
