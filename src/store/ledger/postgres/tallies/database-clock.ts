import { type RawBuilder, sql } from 'kysely';
import type { ResetWindow } from '../../../../kit/time/windows.ts';

/** SQL expression of the current time that all gateways share, epoch milliseconds. */
export type DatabaseClock = () => RawBuilder<string>;

const DATABASE_MS = sql<string>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

export const databaseClock: DatabaseClock = () => DATABASE_MS;

const DAY_MS = sql.lit(86_400_000);

/** 1970 began on a Thursday, three days into its week. */
const WEEK_OFFSET_MS = sql.lit(3 * 86_400_000);
const WEEK_MS = sql.lit(7 * 86_400_000);

/** SQL expressions of the windows at a moment: the same numbers as `windowsAt`. */
export function windowNumbersAt(ms: RawBuilder<unknown>): Record<ResetWindow, RawBuilder<string>> {
  const moment = sql`(timestamp 'epoch' + ${ms} * interval '1 millisecond')`;
  return {
    daily: sql`(${ms} / ${DAY_MS})::bigint`,
    weekly: sql`((${ms} + ${WEEK_OFFSET_MS}) / ${WEEK_MS})::bigint`,
    monthly: sql`((extract(year from ${moment}) - 1970) * 12 + extract(month from ${moment}) - 1)::bigint`,
  };
}
