import { type ColumnName, EVENT_NUMBERS, EVENT_TEXTS, SERIES_NUMBERS, SERIES_TEXTS } from '../columns.ts';
import { DAILY_SUMS, DAY_MS } from '../daily-sums.ts';

/** Version of the tables. A release does not use tables of a later one. */
export const SCHEMA_VERSION = 1;

/** One row for each generation, with its series. Rows with the same key are one event, merged or not. */
export const EVENTS = 'generation_events';

/** Sums of days whose events were pruned, for each series. */
export const DAILY = 'daily_sums';

/** Moments before which events were pruned. */
export const PRUNED = 'pruned_events';

/** Tags that classifiers have given to generations. `created_ms` is that of the event. */
export const TAGS = 'classifier_tags';

/** In the order of inserted lines. */
export const TAG_COLUMNS = ['classifier_id', 'generation_id', 'dimension', 'value', 'created_ms'] as const;

/** Identity and version of these tables. */
export const STORES = 'event_stores';

const COLUMNS = { ...SERIES_TEXTS, ...SERIES_NUMBERS, ...EVENT_TEXTS, ...EVENT_NUMBERS };

/** All columns of an event, in the order of inserted lines. */
export const EVENT_COLUMNS = Object.keys(COLUMNS) as readonly ColumnName[];

export const SERIES_COLUMNS = Object.keys({ ...SERIES_TEXTS, ...SERIES_NUMBERS }) as readonly ColumnName[];

/** Columns that every event has a value for. */
const NEVER_NULL: ReadonlySet<ColumnName> = new Set<ColumnName>([
  'id',
  'created_ms',
  'account_id',
  'workspace_id',
  'model_id',
  'model',
  'variant',
  'context_length_bucket',
  'modalities',
  'is_zdr',
  'is_byok',
  'is_imported',
  'is_guarded',
  'is_from_cache',
  'prompt_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cached_tokens',
  'credit_nanos',
  'byok_nanos',
  'upstream_nanos',
]);

const TYPES = { VARCHAR: 'String', BIGINT: 'Int64', BOOLEAN: 'UInt8' } as const;

function declarationOf(name: ColumnName): string {
  const type = TYPES[COLUMNS[name].type];
  return `${name} ${NEVER_NULL.has(name) ? type : `Nullable(${type})`}`;
}

/** The month of a moment, in UTC whatever the server's time zone: the partitions of events. */
export const monthOf = (moment: string) => `toYYYYMM(toDateTime(intDiv(${moment}, 1000), 'UTC'))`;

/**
 * Statements that make the tables. Events are sorted by account and time: a question of one account reads little else.
 * The id ends the key, so that an event that was inserted twice is one row after a merge, and in every query, which
 * all use FINAL.
 */
export const SCHEMA: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS ${EVENTS} (${EVENT_COLUMNS.map(declarationOf).join(', ')})
    ENGINE = ReplacingMergeTree() PARTITION BY ${monthOf('created_ms')} ORDER BY (account_id, created_ms, id)`,
  // Of rows with the same key the one with most requests counts: see `pruneEvents`.
  `CREATE TABLE IF NOT EXISTS ${DAILY} (day Int64, series String,
    ${SERIES_COLUMNS.map(declarationOf).join(', ')}, requests UInt64, ${DAILY_SUMS.map(declarationOf).join(', ')})
    ENGINE = ReplacingMergeTree(requests) PARTITION BY intDiv(day, 366) ORDER BY (day, series)`,
  `CREATE TABLE IF NOT EXISTS ${TAGS} (classifier_id String, generation_id String, dimension String, value String,
    created_ms Int64) ENGINE = ReplacingMergeTree() PARTITION BY ${monthOf('created_ms')}
    ORDER BY (classifier_id, created_ms, generation_id, dimension)`,
  `CREATE TABLE IF NOT EXISTS ${PRUNED} (before_ms Int64) ENGINE = MergeTree() ORDER BY before_ms`,
  `CREATE TABLE IF NOT EXISTS ${STORES} (made_ms Int64, id String, version Int64)
    ENGINE = MergeTree() ORDER BY (made_ms, id)`,
];

/**
 * The statement that adds a column of events that tables of earlier releases lack. A gateway of theirs can go on beside
 * this one, because inserts name their columns. Old servers know no `IF NOT EXISTS` here.
 */
export function addColumnSql(name: ColumnName): string {
  return `ALTER TABLE ${EVENTS} ADD COLUMN ${declarationOf(name)}`;
}

/** Digest of a series' values: nullable columns cannot be part of a key. */
const SERIES_DIGEST = `hex(MD5(concat(${SERIES_COLUMNS.map(
  (name) => `coalesce(concat('=', replaceAll(toString(${name}), '|', '||')), ''), '|,'`,
).join(', ')})))`;

/** Writes the daily sums of events within a range of whole days. */
export function sumDaysSql(fromMs: number, beforeMs: number): string {
  const columns = [...SERIES_COLUMNS, 'requests', ...DAILY_SUMS];
  return `INSERT INTO ${DAILY} (day, series, ${columns.join(', ')})
    SELECT intDiv(created_ms, ${DAY_MS}) AS day, ${SERIES_DIGEST} AS series, ${SERIES_COLUMNS.join(', ')}, count(),
      ${DAILY_SUMS.map((name) => `sum(${name})`).join(', ')}
    FROM ${EVENTS} FINAL WHERE created_ms >= ${fromMs} AND created_ms < ${beforeMs} AND isNull(refused_requests)
    GROUP BY day, ${SERIES_COLUMNS.join(', ')}`;
}
