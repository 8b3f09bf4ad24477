import {
  type ColumnName,
  declarationsOf,
  EVENT_NUMBERS,
  EVENT_TEXTS,
  SERIES_NUMBERS,
  SERIES_TEXTS,
} from '../columns.ts';
import { DAILY_SUMS } from '../daily-sums.ts';

/** Version of the schema. Files of versions without an upgrade are not read. */
export const SCHEMA_VERSION = 4;

/** Columns of events that version 1 did not have. */
const ADDED_IN_2 = [
  'state',
  'request_format',
  'session_id',
  'request_id',
  'error_type',
  'duration_ms',
  'error_status',
  'attempts',
  'tool_calls',
  'is_streamed',
] as const satisfies readonly ColumnName[];

/** Columns of events that version 2 did not have. */
const ADDED_IN_3 = ['trace_id'] as const satisfies readonly ColumnName[];

/** Columns of events that version 3 did not have. */
const ADDED_IN_4 = ['refused_requests'] as const satisfies readonly ColumnName[];

/** Statements that bring a file of an earlier version to the next, by that version. Older events have no values. */
export const SCHEMA_UPGRADES: Readonly<Record<number, readonly string[]>> = {
  1: [...addColumns(ADDED_IN_2), 'ALTER TABLE series ADD COLUMN IF NOT EXISTS is_imported BOOLEAN'],
  2: addColumns(ADDED_IN_3),
  3: addColumns(ADDED_IN_4),
};

function addColumns(names: readonly (keyof typeof EVENT_TEXTS | keyof typeof EVENT_NUMBERS)[]): string[] {
  return declarationsOf(pick({ ...EVENT_TEXTS, ...EVENT_NUMBERS }, names)).map(
    (declaration) => `ALTER TABLE events ADD COLUMN IF NOT EXISTS ${declaration}`,
  );
}

function pick<T extends object, Name extends keyof T>(all: T, names: readonly Name[]): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, all[name]])) as Pick<T, Name>;
}

/** Whether this release reads files of a version, if need be after an upgrade. */
export function isReadableVersion(version: unknown): boolean {
  return version === SCHEMA_VERSION || Object.hasOwn(SCHEMA_UPGRADES, String(version));
}

const seriesColumns = { ...SERIES_TEXTS, ...SERIES_NUMBERS };
export const SERIES_COLUMNS = Object.keys(seriesColumns);
export const EVENT_COLUMNS = [...Object.keys(EVENT_TEXTS), ...Object.keys(EVENT_NUMBERS)];

/** Columns of tags that classifiers have given. */
export const TAG_COLUMNS = ['generation_id', 'classifier_id', 'dimension', 'value', 'created_ms'] as const;

/** A table of sums: one row per span of `days` and per value of `by`. */
interface SumsTable {
  readonly table: string;
  readonly days: number;
  /** Table to which batches append daily sums, until compaction merges them. */
  readonly added: string;
  readonly by: string;
  readonly sums: readonly string[];
}

export const DAILY = {
  table: 'daily',
  days: 1,
  added: 'daily_added',
  by: 'series',
  sums: ['requests', ...DAILY_SUMS],
} as const satisfies SumsTable;

export const APPS_ADDED = { added: 'app_added', by: 'app_place', sums: ['requests', 'tokens'] } as const;

/** Sums of apps. Each span consists of whole spans of the level before. */
export const APP_SUMS = [
  { table: 'app_days', days: 1, ...APPS_ADDED },
  { table: 'app_weeks', days: 7, ...APPS_ADDED },
  { table: 'app_four_weeks', days: 28, ...APPS_ADDED },
] as const satisfies readonly SumsTable[];

/** Columns of staged events and series: all numbers are DOUBLE until they are inserted. */
export const STAGED_TABLES = {
  events: [...textsOf(EVENT_TEXTS), 'series DOUBLE', ...numbersOf(EVENT_NUMBERS)],
  series: ['key VARCHAR', ...textsOf(SERIES_TEXTS), 'place DOUBLE', ...numbersOf(SERIES_NUMBERS)],
} as const;

function textsOf(columns: object): string[] {
  return Object.keys(columns).map((name) => `${name} VARCHAR`);
}

function numbersOf(columns: object): string[] {
  return Object.keys(columns).map((name) => `${name} DOUBLE`);
}

/**
 * The tables. Values that many events share are a series, stored once. Batches append rows to the sums, and compaction
 * merges rows with the same key. Times are integer milliseconds and days are numbered from 1970, so no time zone
 * applies. There is no index: ids are searched among events of the same time, which lie together.
 */
export const SCHEMA: readonly string[] = [
  'CREATE TABLE IF NOT EXISTS shape (version INTEGER)',
  `CREATE TABLE IF NOT EXISTS events (series INTEGER,
    ${[...declarationsOf(EVENT_TEXTS), ...declarationsOf(EVENT_NUMBERS)].join(', ')})`,
  `CREATE TABLE IF NOT EXISTS series (place INTEGER, key VARCHAR, app_place INTEGER,
    ${declarationsOf(seriesColumns).join(', ')})`,
  'CREATE TABLE IF NOT EXISTS apps (place INTEGER, app VARCHAR)',
  ...[DAILY, ...APP_SUMS].flatMap(({ table, added, by, sums }) =>
    [table, added].map(
      (name) => `CREATE TABLE IF NOT EXISTS ${name} (first_day INTEGER, ${by} INTEGER,
        ${sums.map((sum) => `${sum} BIGINT`).join(', ')})`,
    ),
  ),
  'CREATE TABLE IF NOT EXISTS pruned (before_ms BIGINT)',
  // `created_ms` is that of the event.
  `CREATE TABLE IF NOT EXISTS tags (generation_id VARCHAR, classifier_id VARCHAR, dimension VARCHAR, value VARCHAR,
    created_ms BIGINT)`,
];

/** Time before which events were pruned. */
export const PRUNED_BEFORE = 'SELECT coalesce(max(before_ms), 0) FROM pruned';

export const sumsOf = (names: readonly string[]) =>
  names.map((name) => `sum(${name}::BIGINT) AS ${name}`).join(', ');

/**
 * Statements that remove events and tags before `$before`; the second returns the number of events. The limit is
 * recorded only if events are removed: otherwise older events that arrive later are known to be new.
 */
export const PRUNE: readonly string[] = [
  `INSERT INTO pruned SELECT $before::BIGINT
    WHERE EXISTS (SELECT 1 FROM events WHERE created_ms < $before::BIGINT)`,
  'DELETE FROM events WHERE created_ms < $before::BIGINT',
  'DELETE FROM tags WHERE created_ms < $before::BIGINT',
];

/** Statements that merge the appended sums. */
export const COMPACT: readonly string[] = [
  ...[DAILY, ...APP_SUMS].flatMap(compactSql),
  `DELETE FROM ${DAILY.added}`,
  `DELETE FROM ${APPS_ADDED.added}`,
];

function compactSql({ table, days, added, by, sums }: SumsTable): string[] {
  const spanOfAdded = `first_day - first_day % ${days}`;
  return [
    `CREATE OR REPLACE TEMP TABLE gathered AS SELECT first_day, ${by}, ${sumsOf(sums)} FROM (
        SELECT * FROM ${table} WHERE first_day IN (SELECT ${spanOfAdded} FROM ${added})
        UNION ALL SELECT * REPLACE (${spanOfAdded} AS first_day) FROM ${added})
      GROUP BY ALL ORDER BY first_day`,
    `DELETE FROM ${table} WHERE first_day IN (SELECT first_day FROM gathered)`,
    `INSERT INTO ${table} SELECT * FROM gathered`,
    'DROP TABLE gathered',
  ];
}

/** All daily sums. */
export const ALL_DAILY = `(FROM ${DAILY.table} UNION ALL FROM ${DAILY.added})`;
