import { type AnalyticsQuery, DEFAULT_ROWS, MAX_ROWS } from '../../contract/analytics/analytics.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { type Issue, MAX_ISSUES } from '../../kit/json/validate.ts';
import type { Granularity } from '../../ports/events/event-names.ts';
import type { EventOrder, TagQuery } from '../../ports/events/events.ts';
import {
  ANALYTICS_DIMENSIONS,
  type AnalyticsDimension,
  type AnalyticsMetric,
  METRIC_DAYS,
  metricsByWireName,
} from './analytics-names.ts';
import {
  bucketsIn,
  limitOfDays,
  MINUTE_LIMIT,
  parseRange,
  type RangeLimit,
  type TimeRange,
  WHOLE_LIMIT,
} from './analytics-range.ts';
import { type NamedFilter, parseFilters } from './parse-filters.ts';
import {
  CLASSIFIER_MEMBERS,
  classifierIssues,
  type FoundClassifier,
  tagColumns,
  tagIssues,
  tagPlaceOf,
  tagQueryOf,
} from './parse-tags.ts';

/** A checked query: every name in it is one of the tables. */
export interface CheckedAnalyticsQuery extends TimeRange {
  readonly metrics: readonly AnalyticsMetric[];
  readonly dimensions: readonly AnalyticsDimension[];
  readonly granularity: Granularity | null;
  readonly filters: readonly NamedFilter[];
  readonly order: EventOrder | null;
  readonly limit: number;
  readonly groupLimit: number | null;
  /** Absent = tags play no part. */
  readonly tags?: TagQuery;
  /** Names of the columns of tags, behind those of the dimensions. */
  readonly tagColumns: readonly string[];
}

/** Groups for which the default row limit leaves room with all of their time buckets. */
const DEFAULT_GROUPS = 100;

/** Range limit of expensive metrics and dimensions. */
const SHORT_RANGE_DAYS = 31;

interface QueryContext {
  /** Configured vendor name; part of some metric names. */
  readonly vendor: string;
  readonly nowMs: number;
}

/** Checks a body that has passed the schema. Throws a 400 with all further problems. */
export function parseAnalyticsQuery(
  wanted: AnalyticsQuery,
  context: QueryContext & { readonly classifier: FoundClassifier },
): CheckedAnalyticsQuery {
  const issues: Issue[] = [];
  const query = read(wanted, context, issues);
  issues.push(...classifierIssues(wanted, context.classifier));
  if (issues.length > 0) throw invalidRequest(issues.slice(0, MAX_ISSUES));
  return query;
}

/** Further problems of the valid members of a body whose other members failed the schema. */
export function furtherAnalyticsIssues(
  valid: Partial<AnalyticsQuery>,
  context: QueryContext,
): readonly Issue[] {
  const { order_by: order, ...others } = valid;
  const issues: Issue[] = [];
  // Without the invalid members only an order by a name that does not exist is certainly wrong.
  const isUnknownField = order !== undefined && !isName(order.field, context.vendor);
  read({ metrics: [], ...others, ...(isUnknownField && { order_by: order }) }, context, issues);
  return issues.slice(0, MAX_ISSUES);
}

function isName(field: string, vendor: string): boolean {
  return field === 'date' || field in ANALYTICS_DIMENSIONS || metricsByWireName(vendor).has(field);
}

function read(
  wanted: AnalyticsQuery,
  { vendor, nowMs }: QueryContext,
  issues: Issue[],
): CheckedAnalyticsQuery {
  issues.push(
    ...repeatedIssues('metrics', wanted.metrics),
    ...repeatedIssues('dimensions', wanted.dimensions ?? []),
  );
  const metricOf = metricsByWireName(vendor);
  const metrics = wanted.metrics.flatMap((name) => metricOf.get(name) ?? []);
  const dimensions = (wanted.dimensions ?? []) as AnalyticsDimension[];
  const granularity = (wanted.granularity ?? null) as Granularity | null;
  const range = parseRange(wanted.time_range, nowMs, rangeLimits(wanted, metricOf), issues);
  const filters = parseFilters(wanted.filters ?? [], issues);
  const order = parseOrder(wanted, metricOf, issues);
  issues.push(...tagIssues(wanted));
  const [first] = metrics;
  const tags = tagQueryOf(wanted);
  return {
    ...range,
    metrics,
    dimensions,
    granularity,
    filters,
    order: order ?? (granularity === null && first ? { field: first, direction: 'desc' } : null),
    limit: wanted.limit ?? defaultRows(wanted, range, granularity),
    groupLimit: wanted.group_limit ?? null,
    ...(tags !== undefined && { tags }),
    tagColumns: tagColumns(wanted),
  };
}

function repeatedIssues(path: string, names: readonly string[]): Issue[] {
  return names.flatMap((name, index) =>
    names.indexOf(name) < index ? [{ path: `${path}[${index}]`, message: `${name} is there already` }] : [],
  );
}

function rangeLimits(
  { metrics, dimensions = [], filters = [], granularity, ...rest }: AnalyticsQuery,
  metricOf: ReadonlyMap<string, AnalyticsMetric>,
): RangeLimit[] {
  const fields = [...dimensions, ...filters.map(({ field }) => field)] as AnalyticsDimension[];
  const causes = [
    ...metrics.filter((name) => METRIC_DAYS[metricOf.get(name) ?? 'request_count'] === SHORT_RANGE_DAYS),
    ...fields.filter((name) => ANALYTICS_DIMENSIONS[name].longestDays === SHORT_RANGE_DAYS),
    ...CLASSIFIER_MEMBERS.filter((name) => rest[name] !== undefined),
  ];
  return [
    WHOLE_LIMIT,
    ...(causes.length === 0 ? [] : [limitOfDays(SHORT_RANGE_DAYS, [...new Set(causes)])]),
    ...(granularity === 'minute' ? [MINUTE_LIMIT] : []),
  ];
}

function parseOrder(
  query: AnalyticsQuery,
  metricOf: ReadonlyMap<string, AnalyticsMetric>,
  issues: Issue[],
): EventOrder | null {
  const { order_by: wanted, metrics, dimensions = [], granularity } = query;
  if (wanted === undefined) return null;
  const { field, direction } = wanted;
  if (field === 'date') {
    if (granularity === undefined) {
      issues.push({ path: 'order_by.field', message: 'date needs a granularity' });
    }
    return { field, direction };
  }
  if (dimensions.includes(field)) return { field: field as AnalyticsDimension, direction };
  const metric = field === 'request_count' || metrics.includes(field) ? metricOf.get(field) : undefined;
  if (metric !== undefined) return { field: metric, direction };
  const tag = tagPlaceOf(query, field);
  if (tag !== undefined) return { field: tag, direction };
  issues.push({
    path: 'order_by.field',
    message: 'must be request_count, date, or a metric or dimension of this question',
  });
  return null;
}

/**
 * Default row limit. With groups and time buckets but neither `limit` nor `group_limit`, it has room for all buckets of
 * DEFAULT_GROUPS groups.
 */
function defaultRows(
  { dimensions = [], group_limit: groupLimit, classifier_dimensions: tags }: AnalyticsQuery,
  range: TimeRange,
  granularity: Granularity | null,
): number {
  const hasGroups = dimensions.length > 0 || tags !== undefined;
  if (granularity === null || !hasGroups || groupLimit !== undefined) return DEFAULT_ROWS;
  return Math.min(MAX_ROWS, Math.max(DEFAULT_ROWS, bucketsIn(range, granularity) * DEFAULT_GROUPS));
}
