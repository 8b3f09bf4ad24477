import {
  MAX_GROUPS,
  MAX_OVERVIEW_DAYS,
  type Overview,
  type OverviewDimension,
  type OverviewFigures,
  type OverviewQuery,
  type OverviewSums,
  STACKED_GROUPS,
} from '../../contract/analytics/overview.ts';
import { isoTime } from '../../contract/values/iso-time.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { usdOf } from '../../kit/money.ts';
import type { Clock } from '../../kit/time/clock.ts';
import { utcUnlessSaidMs } from '../../kit/time/iso-moment.ts';
import type { DimensionName, Granularity, MetricName } from '../../ports/events/event-names.ts';
import type {
  EventAnswer,
  EventFilter,
  EventQuery,
  EventRow,
  EventStore,
} from '../../ports/events/events.ts';
import type { GenerationStore } from '../../ports/generations/generations.ts';
import { NO_MOMENT } from '../query-moment.ts';
import type { TimeRange } from './analytics-range.ts';
import { ledgerAgreement, type OverviewScope, scopeFilters } from './ledger-agreement.ts';
import { groupNames, type OverviewNameSources } from './overview-names.ts';
import { REFILL_WARNING } from './refill-warning.ts';

export interface OverviewDependencies extends OverviewNameSources {
  readonly events: Pick<EventStore, 'query' | 'breakdown' | 'isRefilling'>;
  readonly ledger: Parameters<typeof ledgerAgreement>[1]['ledger'];
  readonly generations: Pick<GenerationStore, 'writtenOff'>;
  readonly clock: Clock;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_RANGE_MS = DAY_MS;

/** The longest range of each granularity, finest first; a longer one has months. */
const GRANULARITY_RANGES: readonly (readonly [longestMs: number, Granularity])[] = [
  [3 * HOUR_MS, 'minute'],
  [8 * DAY_MS, 'hour'],
  [93 * DAY_MS, 'day'],
  [MAX_OVERVIEW_DAYS * DAY_MS, 'week'],
];

/** What events call the dimensions. */
const FIELDS: Readonly<Record<OverviewDimension, DimensionName>> = {
  model: 'model_id',
  provider: 'provider',
  key: 'api_key_id',
  workspace: 'workspace',
  app: 'app',
};

const SUMS = ['total_usage', 'request_count', 'tokens_total', 'error_count'] as const;

const FIGURES = [
  ...SUMS,
  'cache_hit_rate',
  'usage_cache',
  'p50_latency',
  'p90_latency',
  'p99_latency',
  'p50_duration',
  'p90_duration',
  'p99_duration',
] as const satisfies readonly (MetricName & keyof OverviewFigures)[];

/** Metrics that are money, and counts: without data they are 0, all others null. */
const MONEY: ReadonlySet<string> = new Set(['total_usage', 'usage_cache']);
const COUNTS: ReadonlySet<string> = new Set(['request_count', 'tokens_total', 'error_count']);

/** More buckets than any range has, and more causes than are worth showing. */
const MAX_BUCKETS = 1_000;
const MAX_CAUSES = 20;

/** The figures of an account, or of one key, for the first page of the console. */
export class AccountOverview {
  readonly #dependencies: OverviewDependencies;

  constructor(dependencies: OverviewDependencies) {
    this.#dependencies = dependencies;
  }

  /** Throws 400. */
  async read(scope: OverviewScope, wanted: OverviewQuery, signal: AbortSignal): Promise<Overview> {
    const { events, ledger, generations, clock } = this.#dependencies;
    const startedMs = clock.monotonic();
    const wasRefilling = events.isRefilling;
    const by = wanted.by ?? 'model';
    const range = rangeOf(wanted, clock.now());
    const before = { startMs: 2 * range.startMs - range.endMs, endMs: range.startMs };
    const granularity = granularityOf(range);
    const filters = [...scopeFilters(scope), ...filtersOf(wanted)];
    const question = { ...range, accountId: scope.accountId, filters };
    const ask = (more: Partial<EventQuery> & Pick<EventQuery, 'metrics' | 'limit'>): Promise<EventAnswer> =>
      events.query(
        { ...question, dimensions: [], granularity: null, order: null, groupLimit: null, ...more },
        signal,
      );
    const field = FIELDS[by];
    const found = await events.breakdown(
      { ...question, metrics: FIGURES, granularity, dimension: field, limit: MAX_GROUPS },
      signal,
    );
    const ids = found.now.groups.map(({ dimensions: [id = null] }) => id);
    const stacked = ids.slice(0, STACKED_GROUPS);
    const [stacks, errors, agreement, names, writeOffs] = await Promise.all([
      ask({
        granularity,
        dimensions: [field],
        metrics: SUMS,
        filters: [...filters, oneOfIds(field, stacked)],
        limit: MAX_BUCKETS * (STACKED_GROUPS + 1),
      }),
      ask({
        dimensions: ['error_status', 'error_type', 'provider'],
        metrics: ['error_count'],
        filters: [...filters, equal('finish_reason', 'error')],
        order: { field: 'error_count', direction: 'desc' },
        limit: MAX_CAUSES,
      }),
      ledgerAgreement(scope, { events, ledger, clock, signal }),
      groupNames(by, ids, scope.accountId, this.#dependencies),
      generations.writtenOff({
        accountId: scope.accountId,
        keyHash: scope.keyHash ?? undefined,
        fromMs: range.startMs,
        toMs: range.endMs,
      }),
    ]);
    // A query may have found that events are lost.
    const warnings = wasRefilling || events.isRefilling ? [REFILL_WARNING] : [];
    if (found.missingBeforeMs !== null) warnings.push(missingWarning(found.missingBeforeMs));
    const sumsBefore = new Map(found.before.groups.map((row) => [row.dimensions[0] ?? null, sumsOf(row)]));
    return {
      from: isoTime(range.startMs),
      to: isoTime(range.endMs),
      before_from: isoTime(before.startMs),
      granularity,
      by,
      now: figuresOf(found.now.total),
      before: figuresOf(found.before.total),
      series: bucketsOf(found.now.series),
      series_before: bucketsOf(found.before.series),
      groups: found.now.groups.map((row, place) => ({
        id: ids[place] ?? null,
        name: names[place] ?? '',
        now: figuresOf(row),
        before: sumsBefore.get(ids[place] ?? null) ?? sumsOf(undefined),
      })),
      group_count: found.groupCount,
      stacks: stacks.rows
        .filter(({ dimensions: [id = null] }) => stacked.includes(id))
        .map((row) => ({ date: dateOf(row), id: row.dimensions[0] ?? null, ...sumsOf(row) }))
        .reverse(),
      errors: errors.rows.map(({ dimensions: [status, type, provider], metrics: [count] }) => ({
        status: status === null || status === undefined ? null : Number(status),
        provider: provider ?? null,
        type: type ?? null,
        error_count: Number(count ?? 0),
      })),
      ledger: agreement,
      written_off: writeOffs.map(({ cause, nanos }) => ({ cause, cost: usdOf(nanos) })),
      query_time_ms: Math.round(clock.monotonic() - startedMs),
      ...(warnings.length > 0 && { warnings }),
    };
  }
}

function rangeOf({ from, to }: OverviewQuery, nowMs: number): TimeRange {
  const issues: Issue[] = [];
  const read = (path: 'from' | 'to', text: string | undefined, fallback: () => number): number => {
    if (text === undefined) return fallback();
    const ms = utcUnlessSaidMs(text);
    if (ms === undefined) issues.push({ path, message: NO_MOMENT });
    return ms ?? nowMs;
  };
  const endMs = read('to', to, () => nowMs);
  const startMs = read('from', from, () => endMs - DEFAULT_RANGE_MS);
  if (issues.length === 0 && startMs >= endMs) issues.push({ path: 'from', message: 'must be before to' });
  if (endMs - startMs > MAX_OVERVIEW_DAYS * DAY_MS) {
    issues.push({ path: 'from', message: `must not be more than ${MAX_OVERVIEW_DAYS} days before to` });
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return { startMs, endMs };
}

function granularityOf({ startMs, endMs }: TimeRange): Granularity {
  return GRANULARITY_RANGES.find(([longestMs]) => endMs - startMs <= longestMs)?.[1] ?? 'month';
}

function filtersOf(wanted: OverviewQuery): EventFilter[] {
  return (Object.keys(FIELDS) as OverviewDimension[]).flatMap((name) => {
    const values = wanted[name];
    return values === undefined
      ? []
      : [{ field: FIELDS[name], operator: 'in' as const, values, includesUnset: false }];
  });
}

function equal(field: DimensionName, value: string): EventFilter {
  return { field, operator: 'eq', values: [value], includesUnset: false };
}

/** Events with one of these values, or with none if null is among them. */
function oneOfIds(field: DimensionName, ids: readonly (string | null)[]): EventFilter {
  const values = ids.filter((id) => id !== null);
  return { field, operator: 'in', values, includesUnset: values.length < ids.length };
}

/** Rows come latest first. */
function bucketsOf(rows: readonly EventRow[]) {
  return rows.map((row) => ({ date: dateOf(row), ...figuresOf(row) })).reverse();
}

function dateOf({ bucketMs }: EventRow): string {
  return isoTime(bucketMs ?? 0);
}

function figuresOf(row: EventRow | undefined): OverviewFigures {
  return valuesOf(FIGURES, row) as OverviewFigures;
}

function sumsOf(row: EventRow | undefined): OverviewSums {
  return valuesOf(SUMS, row) as OverviewSums;
}

function valuesOf(names: readonly (keyof OverviewFigures)[], row: EventRow | undefined): object {
  return Object.fromEntries(
    names.map((name, place) => {
      const value = row?.metrics[place] ?? null;
      if (MONEY.has(name)) return [name, usdOf(BigInt(value ?? 0))];
      return [name, COUNTS.has(name) ? Number(value ?? 0) : value];
    }),
  );
}

function missingWarning(missingBeforeMs: number): string {
  return `from: generations from before ${isoTime(missingBeforeMs)} are no longer kept one by one, and left out`;
}
