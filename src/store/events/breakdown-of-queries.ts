import type {
  Breakdown,
  BreakdownQuery,
  EventQuery,
  EventStore,
  PeriodFigures,
} from '../../ports/events/events.ts';

/** More buckets than any period is divided into. */
const MAX_BUCKETS = 1_000_000;

/** A breakdown with one query for each of its parts, for a store that has no better way. */
export async function breakdownOfQueries(
  events: Pick<EventStore, 'query'>,
  { accountId, startMs, endMs, filters, metrics, granularity, dimension, limit }: BreakdownQuery,
  signal?: AbortSignal,
): Promise<Breakdown> {
  const now = { startMs, endMs };
  const before = { startMs: 2 * startMs - endMs, endMs: startMs };
  const ask = (more: Pick<EventQuery, 'startMs' | 'endMs'> & Partial<EventQuery>) =>
    events.query(
      {
        accountId,
        filters,
        metrics,
        dimensions: [],
        granularity: null,
        order: null,
        limit: MAX_BUCKETS,
        groupLimit: null,
        ...more,
      },
      signal,
    );
  const whole = async (period: typeof now): Promise<Omit<PeriodFigures, 'groups'>> => {
    const [total, series] = await Promise.all([ask(period), ask({ ...period, granularity })]);
    return { total: total.rows[0], series: series.rows };
  };
  const groups = async () => {
    const found = await ask({
      ...now,
      dimensions: [dimension],
      order: { field: metrics[0] ?? 'request_count', direction: 'desc' },
      limit,
    });
    const ids = found.rows.map(({ dimensions: [id = null] }) => id);
    const values = ids.filter((id) => id !== null);
    const filter = {
      field: dimension,
      operator: 'in',
      values,
      includesUnset: values.length < ids.length,
    } as const;
    return {
      found,
      before: await ask({ ...before, dimensions: [dimension], filters: [...filters, filter] }),
    };
  };
  const [later, earlier, grouped] = await Promise.all([whole(now), whole(before), groups()]);
  return {
    now: { ...later, groups: grouped.found.rows },
    before: { ...earlier, groups: grouped.before.rows },
    groupCount: grouped.found.totalRows,
    missingBeforeMs: grouped.found.missingBeforeMs,
  };
}
