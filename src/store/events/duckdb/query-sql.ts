import { CONTEXT_LENGTH_BUCKETS, type MetricName } from '../../../ports/events/event-names.ts';
import type { EventOrder, EventQuery } from '../../../ports/events/events.ts';
import { countsRefused, fitsDailySums } from '../daily-sums.ts';
import { dimensionColumns, orderedPlace } from '../tag-columns.ts';
import { binder, type Statement } from './driver/statement.ts';
import {
  BUCKET_SQL,
  conditionsOf,
  DAILY,
  DIMENSION_SQL,
  EVENTS,
  EVENTS_WITH_REFUSED,
  METRIC_SQL,
} from './event-sql.ts';
import { tagsSql } from './tags-sql.ts';

/**
 * The statement of a query. Columns: bucket, dimensions, metrics, rows without limits. All text from callers is
 * bound as parameters.
 */
export function querySql(query: EventQuery): Statement {
  const { bind, parameters } = binder();
  const tags = tagsSql(query, bind);
  const dimensions = dimensionColumns(query);
  const order = orderSql(query);
  const limitsGroups = query.groupLimit !== null && dimensions.length > 0;
  const place = limitsGroups ? `row_number() OVER (PARTITION BY ${dimensions} ORDER BY ${order})` : '0';
  const selected = [
    `${query.granularity === null ? 'NULL::BIGINT' : BUCKET_SQL[query.granularity]} AS bucket`,
    ...query.dimensions.map((name, index) => `${DIMENSION_SQL[name]}::VARCHAR AS d${index}`),
    ...tags.grouped.map((column, index) => `${column} AS d${query.dimensions.length + index}`),
    ...query.metrics.map((name, index) => `${METRIC_SQL[name]} AS m${index}`),
    `${orderedMetricSql(query)} AS ordered`,
  ];
  const sql = `WITH grouped AS NOT MATERIALIZED (
      SELECT ${selected.join(', ')} FROM ${sourceOf(query)} ${tags.joins}
      WHERE ${[conditionsOf(query, bind), ...tags.conditions].join(' AND ')} GROUP BY ALL HAVING count(*) > 0),
    ranked AS (SELECT *, ${place} AS place, count(*) OVER () AS all_rows FROM grouped)
    SELECT ${['bucket', ...dimensions, ...query.metrics.map((_, index) => `m${index}`), 'all_rows'].join(', ')}
    FROM ranked ${limitsGroups ? `WHERE place <= ${bind(BigInt(query.groupLimit ?? 0))}` : ''}
    ORDER BY ${order} LIMIT ${bind(BigInt(query.limit))}`;
  return { sql, parameters };
}

function sourceOf(query: EventQuery): string {
  if (fitsDailySums(query)) return DAILY;
  return countsRefused(query) ? EVENTS_WITH_REFUSED : EVENTS;
}

function orderSql(query: EventQuery): string {
  const { order } = query;
  const ties = ['bucket DESC', ...dimensionColumns(query).map((column) => `${column} ASC NULLS LAST`)];
  if (order === null) return ties.join(', ');
  const place = orderedPlace(query, order.field);
  const first =
    order.field === 'date' ? 'bucket' : place === -1 ? 'ordered' : orderedBy(order.field, `d${place}`);
  return [`${first} ${order.direction === 'asc' ? 'ASC' : 'DESC'} NULLS LAST`, ...ties].join(', ');
}

/** Sorts buckets of prompt length by size, everything else by text. */
function orderedBy(field: EventOrder['field'], column: string): string {
  if (field !== 'context_length_bucket') return column;
  const names = CONTEXT_LENGTH_BUCKETS.map(([, name]) => `'${name}'`);
  return `list_position([${names.join(', ')}], ${column})`;
}

function orderedMetricSql({ order }: EventQuery): string {
  return order !== null && order.field in METRIC_SQL
    ? METRIC_SQL[order.field as MetricName]
    : 'NULL::INTEGER';
}
