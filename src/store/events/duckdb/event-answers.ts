import { forEachSliced, type Sliced } from '../../../kit/loop/turns.ts';
import { METRICS, type MetricName } from '../../../ports/events/event-names.ts';
import type {
  Breakdown,
  BreakdownQuery,
  EventAnswer,
  EventQuery,
  EventRow,
  MetricValue,
} from '../../../ports/events/events.ts';
import { groupedValues } from '../tag-columns.ts';
import { BREAKDOWN_COLUMNS } from './breakdown-sql.ts';
import type { DuckdbColumns } from './driver/duckdb-thread.ts';

/** Reads the columns of `querySql`. */
export function* answerOf(
  query: EventQuery,
  columns: DuckdbColumns,
): Sliced<Omit<EventAnswer, 'missingBeforeMs'>> {
  const [buckets = []] = columns;
  const metricsFrom = 1 + groupedValues(query);
  const metricsTo = metricsFrom + query.metrics.length;
  const dimensions = columns.slice(1, metricsFrom);
  const metrics = columns.slice(metricsFrom, metricsTo);
  const totalRows = Number(columns[metricsTo]?.[0] ?? 0);
  const rows: EventRow[] = [];
  yield* forEachSliced(buckets, (bucket, row) => {
    rows.push({
      bucketMs: numberOrNull(bucket),
      dimensions: dimensions.map((column) => textOrNull(column[row])),
      metrics: query.metrics.map((name, index) => metricOf(name, metrics[index]?.[row])),
    });
  });
  return { rows, totalRows, isTruncated: rows.length < totalRows };
}

/** Reads the columns of `breakdownSql`. */
export function breakdownOf(
  { metrics }: BreakdownQuery,
  columns: DuckdbColumns,
): Omit<Breakdown, 'missingBeforeMs'> {
  const [isNow = [], hasBucket = [], hasGroup = [], buckets = [], groups = []] = columns;
  const metricsFrom = BREAKDOWN_COLUMNS.length;
  const now: EventRow[][] = [[], [], []];
  const before: EventRow[][] = [[], [], []];
  for (let row = 0; row < isNow.length; row++) {
    const part = hasBucket[row] === true ? 1 : hasGroup[row] === true ? 2 : 0;
    (isNow[row] === true ? now : before)[part]?.push({
      bucketMs: numberOrNull(buckets[row]),
      dimensions: part === 2 ? [textOrNull(groups[row])] : [],
      metrics: metrics.map((name, index) => metricOf(name, columns[metricsFrom + index]?.[row])),
    });
  }
  const period = ([total = [], series = [], rows = []]: EventRow[][]) => ({
    total: total[0],
    series,
    groups: rows,
  });
  const groupCount = Number(columns[metricsFrom + metrics.length]?.[0] ?? 0);
  return { now: period(now), before: period(before), groupCount };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Packed columns have NaN for null. */
function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined || Number.isNaN(value) ? null : Number(value);
}

const WHOLE_UNITS: ReadonlySet<string> = new Set(['count', 'money']);

function metricOf(name: MetricName, value: unknown): MetricValue {
  if (WHOLE_UNITS.has(METRICS[name].unit) && typeof value === 'bigint') return value;
  const number = numberOrNull(value);
  return number !== null && WHOLE_UNITS.has(METRICS[name].unit) ? BigInt(number) : number;
}
