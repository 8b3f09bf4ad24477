import { DIMENSIONS, METRICS, type MetricName } from '../../ports/events/event-names.ts';
import type { EventQuery } from '../../ports/events/events.ts';
import type { ColumnName } from './columns.ts';

export const DAY_MS = 86_400_000;

/** Columns that are summed per day and series. */
export const DAILY_SUMS = [
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

/** Whether daily sums suffice: whole days, and only metrics and dimensions that they have. */
export function fitsDailySums({
  metrics,
  dimensions,
  filters,
  order,
  granularity,
  startMs,
  endMs,
  tags,
}: EventQuery): boolean {
  if (tags !== undefined) return false;
  const fields = [...dimensions, ...filters.map(({ field }) => field)];
  const ordered = order === null || order.field === 'date' || order.field in DIMENSIONS ? [] : [order.field];
  return (
    startMs % DAY_MS === 0 &&
    endMs % DAY_MS === 0 &&
    granularity !== 'minute' &&
    granularity !== 'hour' &&
    [...metrics, ...(ordered as MetricName[])].every((name) => METRICS[name].isDaily) &&
    fields.every((name) => DIMENSIONS[name].isDaily)
  );
}

/** Whether a query counts refused requests: all others leave their events out. */
export function countsRefused({ metrics, order }: Pick<EventQuery, 'metrics' | 'order'>): boolean {
  return metrics.includes('refused_count') || order?.field === 'refused_count';
}
