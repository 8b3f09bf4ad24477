import { type AnalyticsQuery, DEFAULT_ROWS, MOST_ROWS } from '../../contract/analytics.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { type Issue, MOST_ISSUES } from '../../kit/json/validate.ts';
import type { Granularity, MetricName } from '../../ports/event-names.ts';
import type { EventOrder } from '../../ports/events.ts';
import {
  ANALYTICS_DIMENSIONS,
  type AnalyticsDimension,
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
import { kindProblem, type NamedFilter, parseFilters } from './parse-filters.ts';

/** A question that an account asks: everything in it is of the tables. */
export interface AnalyticsQuestion extends TimeRange {
  readonly metrics: readonly MetricName[];
  readonly dimensions: readonly AnalyticsDimension[];
  readonly granularity: Granularity | null;
  readonly filters: readonly NamedFilter[];
  readonly order: EventOrder | null;
  readonly limit: number;
  readonly groupLimit: number | null;
}

/** Groups whose time buckets all fit when no limit is given. */
const GROUPS_THAT_FIT = 100;

const FEW_DAYS = 31;

/** What a question is read with. */
interface Reading {
  /** The operator's word in the names of metrics. */
  readonly vendor: string;
  readonly nowMs: number;
}

/** Reads a body that has passed its schema. Throws a 400 with everything else that is wrong with it. */
export function parseAnalyticsQuery(wanted: AnalyticsQuery, reading: Reading): AnalyticsQuestion {
  const issues: Issue[] = [];
  const question = read(wanted, reading, issues);
  if (issues.length > 0) throw invalidRequest(issues.slice(0, MOST_ISSUES));
  return question;
}

/** What is wrong with the members of a body that have passed the schema, where others have not. */
export function furtherAnalyticsIssues(valid: Partial<AnalyticsQuery>, reading: Reading): readonly Issue[] {
  const { order_by: order, ...others } = valid;
  const issues: Issue[] = [];
  // What an order may be of is among the members that are not known; a name that nothing has is wrong in any case.
  const isOfNothing = order !== undefined && !isName(order.field, reading.vendor);
  read({ metrics: [], ...others, ...(isOfNothing && { order_by: order }) }, reading, issues);
  return issues.slice(0, MOST_ISSUES);
}

function isName(field: string, vendor: string): boolean {
  return field === 'date' || field in ANALYTICS_DIMENSIONS || metricsByWireName(vendor).has(field);
}

function read(wanted: AnalyticsQuery, { vendor, nowMs }: Reading, issues: Issue[]): AnalyticsQuestion {
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
  issues.push(...classifierIssues(wanted));
  const [first] = metrics;
  return {
    ...range,
    metrics,
    dimensions,
    granularity,
    filters,
    order: order ?? (granularity === null && first ? { field: first, direction: 'desc' } : null),
    limit: wanted.limit ?? rowsThatFit(wanted, range, granularity),
    groupLimit: wanted.group_limit ?? null,
  };
}

function repeatedIssues(path: string, names: readonly string[]): Issue[] {
  return names.flatMap((name, index) =>
    names.indexOf(name) < index ? [{ path: `${path}[${index}]`, message: `${name} is there already` }] : [],
  );
}

function rangeLimits(
  { metrics, dimensions = [], filters = [], granularity, ...rest }: AnalyticsQuery,
  metricOf: ReadonlyMap<string, MetricName>,
): RangeLimit[] {
  const fields = [...dimensions, ...filters.map(({ field }) => field)] as AnalyticsDimension[];
  const causes = [
    ...metrics.filter((name) => METRIC_DAYS[metricOf.get(name) ?? 'request_count'] === FEW_DAYS),
    ...fields.filter((name) => ANALYTICS_DIMENSIONS[name].longestDays === FEW_DAYS),
    ...CLASSIFIER_MEMBERS.filter((name) => rest[name] !== undefined),
  ];
  return [
    WHOLE_LIMIT,
    ...(causes.length === 0 ? [] : [limitOfDays(FEW_DAYS, [...new Set(causes)])]),
    ...(granularity === 'minute' ? [MINUTE_LIMIT] : []),
  ];
}

function parseOrder(
  { order_by: wanted, metrics, dimensions = [], granularity }: AnalyticsQuery,
  metricOf: ReadonlyMap<string, MetricName>,
  issues: Issue[],
): EventOrder | null {
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
  issues.push({
    path: 'order_by.field',
    message: 'must be request_count, date, or a metric or dimension of this question',
  });
  return null;
}

const CLASSIFIER_MEMBERS = ['classifier_dimensions', 'classifier_filters'] as const;

/** Nobody can make classifiers here: whatever is named is not there. */
function classifierIssues(wanted: AnalyticsQuery): Issue[] {
  const { classifier_dimensions: grouping, classifier_filters: filtering } = wanted;
  const issues: Issue[] = [];
  const isSame = grouping?.classifier_id.toLowerCase() === filtering?.classifier_id.toLowerCase();
  if (grouping !== undefined && filtering !== undefined && !isSame) {
    issues.push({
      path: 'classifier_filters.classifier_id',
      message: 'must be the same as classifier_dimensions.classifier_id',
    });
  }
  filtering?.filters.forEach(({ operator, value }, index) => {
    const message = kindProblem(operator, value);
    const path = `classifier_filters.filters[${index}].value`;
    if (message !== undefined) issues.push({ path, message });
  });
  for (const member of CLASSIFIER_MEMBERS) {
    if (wanted[member] !== undefined) {
      issues.push({ path: `${member}.classifier_id`, message: 'Classifier not found' });
    }
  }
  return issues;
}

/**
 * Where nobody says how many rows and how many of each group, every group keeps its time buckets. Groups are not counted:
 * where there are fewer than fit, there are fewer rows anyway.
 */
function rowsThatFit(
  { dimensions = [], group_limit: groupLimit }: AnalyticsQuery,
  range: TimeRange,
  granularity: Granularity | null,
): number {
  if (granularity === null || dimensions.length === 0 || groupLimit !== undefined) return DEFAULT_ROWS;
  return Math.min(MOST_ROWS, Math.max(DEFAULT_ROWS, bucketsIn(range, granularity) * GROUPS_THAT_FIT));
}
