import { COLUMNS, type ColumnName } from './columns.ts';

/** What daily sums are kept by, besides the day. */
const DAILY_KEYS = [
  'account_id',
  'workspace_id',
  'key_hash',
  'user_id',
  'app',
  'model_id',
  'model',
  'variant',
  'provider',
  'endpoint',
  'context_length_bucket',
  'is_zdr',
  'is_byok',
] as const satisfies readonly ColumnName[];

/** What is summed up for each day. */
const DAILY_SUMS = [
  'prompt_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cached_tokens',
  'credit_nanos',
  'byok_nanos',
  'upstream_nanos',
  'cache_nanos',
  'web_nanos',
] as const satisfies readonly ColumnName[];

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;

const eventColumns = Object.entries(COLUMNS).map(([name, { type }]) => `${name} ${type}`);
const keyColumns = DAILY_KEYS.map((name) => `${name} ${COLUMNS[name].type}`);
const sums = DAILY_SUMS.map((name) => `sum(${name}) AS ${name}`);

/**
 * The tables. Sums of a day are there from the first event on: a batch adds rows to them, compaction makes one of those
 * that are alike. Moments are whole milliseconds, so that no time zone has a say. There is no index: an id is looked for
 * among events of the same time, and those lie together.
 */
export const SCHEMA: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS events (${eventColumns.join(', ')})`,
  `CREATE TABLE IF NOT EXISTS daily (day_ms BIGINT, is_compact BOOLEAN, ${keyColumns.join(', ')},
    requests BIGINT, ${DAILY_SUMS.map((name) => `${name} BIGINT`).join(', ')})`,
  'CREATE TABLE IF NOT EXISTS pruned (before_ms BIGINT)',
  `CREATE TEMP TABLE staged (${eventColumns.join(', ')})`,
];

/** Types of the columns of a staged event. */
export const STAGED_TYPES: readonly string[] = Object.values(COLUMNS).map(({ type }) => type);

/** The moment before which events were pruned. */
export const PRUNED_BEFORE = 'SELECT coalesce(max(before_ms), 0) FROM pruned';

const dailySelect = (day: string, isCompact: boolean, requests: string) =>
  `SELECT ${day} AS day_ms, ${isCompact} AS is_compact, ${DAILY_KEYS.join(', ')},
    ${requests} AS requests, ${sums.join(', ')}`;

/** Steps that take in what is staged. `$first` and `$last` are the moments of its earliest and its latest event. */
export const TAKE_IN = {
  dropTooOld: `DELETE FROM staged WHERE created_ms < (${PRUNED_BEFORE})`,
  dropKnown: `DELETE FROM staged WHERE id IN (SELECT id FROM events
    WHERE created_ms BETWEEN $first::BIGINT AND $last::BIGINT)`,
  addDaily: `INSERT INTO daily ${dailySelect(`created_ms - created_ms % ${DAY_MS}`, false, 'count(*)')}
    FROM staged GROUP BY ALL`,
  addEvents: 'INSERT INTO events SELECT * FROM staged',
  empty: 'DELETE FROM staged',
} as const;

/** Steps that remove events before `$before`, and make one row of daily sums that are alike. */
export const PRUNE = {
  removeEvents: 'DELETE FROM events WHERE created_ms < $before::BIGINT',
  noteBorder: 'INSERT INTO pruned VALUES ($before::BIGINT)',
  gather: `CREATE OR REPLACE TEMP TABLE gathered AS ${dailySelect('day_ms', true, 'sum(requests)')} FROM daily
    WHERE day_ms IN (SELECT day_ms FROM daily WHERE NOT is_compact) GROUP BY ALL`,
  removeGathered: 'DELETE FROM daily WHERE day_ms IN (SELECT day_ms FROM gathered)',
  addGathered: 'INSERT INTO daily SELECT * FROM gathered',
  dropGathered: 'DROP TABLE gathered',
} as const;
