import type { BreakdownQuery } from '../../../ports/events/events.ts';
import { countsRefused } from '../daily-sums.ts';
import { binder, type Statement } from './driver/statement.ts';
import {
  BUCKET_SQL,
  conditionsOf,
  DIMENSION_SQL,
  EVENTS,
  EVENTS_WITH_REFUSED,
  METRIC_SQL,
} from './event-sql.ts';

/** Columns before the metrics. */
export const BREAKDOWN_COLUMNS = ['is_now', 'has_bucket', 'has_group', 'bucket', 'd0'] as const;

/**
 * One statement for both periods as a whole, by time and by group: planning a statement takes as long as reading
 * thousands of events. Columns: `BREAKDOWN_COLUMNS`, metrics, all groups of the later period.
 */
export function breakdownSql(query: BreakdownQuery): Statement {
  const { startMs, endMs, granularity, dimension, metrics, limit } = query;
  const { bind, parameters } = binder();
  const sql = `WITH grouped AS MATERIALIZED (
      SELECT is_now, grouping(bucket) = 0 AS has_bucket, grouping(d0) = 0 AS has_group, bucket, d0,
        ${metrics.map((name, index) => `${METRIC_SQL[name]} AS m${index}`).join(', ')}
      FROM (
        SELECT at_ms >= ${bind(BigInt(startMs))} AS is_now, ${BUCKET_SQL[granularity]} AS bucket,
          ${DIMENSION_SQL[dimension]}::VARCHAR AS d0, *
        FROM ${countsRefused({ metrics, order: null }) ? EVENTS_WITH_REFUSED : EVENTS} WHERE ${conditionsOf({ ...query, startMs: 2 * startMs - endMs }, bind)})
      GROUP BY GROUPING SETS ((is_now), (is_now, bucket), (is_now, d0))),
    top AS MATERIALIZED (
      SELECT d0, row_number() OVER (ORDER BY m0 DESC NULLS LAST, d0 ASC NULLS LAST) AS place FROM grouped
      WHERE has_group AND is_now ORDER BY place LIMIT ${bind(BigInt(limit))})
    SELECT ${BREAKDOWN_COLUMNS.map((name) => `grouped.${name}`).join(', ')},
      ${metrics.map((_, index) => `m${index}`).join(', ')},
      (SELECT count(*) FROM grouped WHERE has_group AND is_now)
    FROM grouped LEFT JOIN top ON has_group AND grouped.d0 IS NOT DISTINCT FROM top.d0
    WHERE NOT has_group OR place IS NOT NULL ORDER BY place, bucket DESC`;
  return { sql, parameters };
}
