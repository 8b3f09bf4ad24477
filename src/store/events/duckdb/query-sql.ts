import { CONTEXT_LENGTH_BUCKETS, type DimensionName, type MetricName } from '../../../ports/event-names.ts';
import type { EventOrder, EventQuery } from '../../../ports/events.ts';
import { fitsDailySums } from '../daily-sums.ts';
import { BUCKET_SQL, conditionsOf, DAILY, DIMENSION_SQL, EVENTS, METRIC_SQL } from './event-sql.ts';
import { binder, type Statement } from './statement.ts';

/**
 * The statement of a query. Columns: bucket, dimensions, metrics, rows without limits. All text from callers is
 * bound as parameters.
 */
export function querySql(query: EventQuery): Statement {
  const { bind, parameters } = binder();
  const dimensions = query.dimensions.map((_, index) => `d${index}`);
  const order = orderSql(query);
  const limitsGroups = query.groupLimit !== null && dimensions.length > 0;
  const place = limitsGroups ? `row_number() OVER (PARTITION BY ${dimensions} ORDER BY ${order})` : '0';
  const selected = [
    `${query.granularity === null ? 'NULL::BIGINT' : BUCKET_SQL[query.granularity]} AS bucket`,
    ...query.dimensions.map((name, index) => `${DIMENSION_SQL[name]}::VARCHAR AS d${index}`),
    ...query.metrics.map((name, index) => `${METRIC_SQL[name]} AS m${index}`),
    `${orderedMetricSql(query)} AS ordered`,
  ];
  const sql = `WITH grouped AS NOT MATERIALIZED (
      SELECT ${selected.join(', ')} FROM ${fitsDailySums(query) ? DAILY : EVENTS}
      WHERE ${conditionsOf(query, bind)} GROUP BY ALL HAVING count(*) > 0),
    ranked AS (SELECT *, ${place} AS place, count(*) OVER () AS all_rows FROM grouped)
    SELECT ${['bucket', ...dimensions, ...query.metrics.map((_, index) => `m${index}`), 'all_rows'].join(', ')}
    FROM ranked ${limitsGroups ? `WHERE place <= ${bind(BigInt(query.groupLimit ?? 0))}` : ''}
    ORDER BY ${order} LIMIT ${bind(BigInt(query.limit))}`;
  return { sql, parameters };
}

function orderSql({ order, dimensions }: EventQuery): string {
  const ties = ['bucket DESC', ...dimensions.map((_, index) => `d${index} ASC NULLS LAST`)];
  if (order === null) return ties.join(', ');
  const place = dimensions.indexOf(order.field as DimensionName);
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
