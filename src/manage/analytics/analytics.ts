import {
  type AnalyticsAnswer,
  type AnalyticsQuery,
  type AnalyticsRow,
  MAX_ROWS,
} from '../../contract/analytics/analytics.ts';
import { isoTime } from '../../contract/values/iso-time.ts';
import { sortSliced } from '../../kit/loop/sort-sliced.ts';
import { forEachSliced, runInTurns, type Sliced } from '../../kit/loop/turns.ts';
import { usdOf } from '../../kit/money.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { AppRegistry } from '../../ports/events/apps.ts';
import { METRICS } from '../../ports/events/event-names.ts';
import type { EventRow, EventStore, MetricValue } from '../../ports/events/events.ts';
import type { ClassifierStore } from '../../ports/following/classifiers.ts';
import { AccountNames, isShownByName, type NameSources, shownValues } from './account-names.ts';
import { type AnalyticsDimension, wireMetric } from './analytics-names.ts';
import { type CheckedAnalyticsQuery, parseAnalyticsQuery } from './parse-analytics-query.ts';
import { classifierIdsOf, type FoundClassifier } from './parse-tags.ts';
import { REFILL_WARNING } from './refill-warning.ts';
import { resolveFilters } from './resolve-filters.ts';

export interface AnalyticsDependencies {
  readonly events: Pick<EventStore, 'query' | 'isRefilling'>;
  readonly tenancy: NameSources['tenancy'];
  readonly apps: Pick<AppRegistry, 'ofIds' | 'ofHosts'>;
  readonly classifiers: Pick<ClassifierStore, 'find' | 'list'>;
  readonly clock: Clock;
}

export interface AnalyticsCall {
  readonly accountId: string;
  /** Configured vendor name; part of some metric names. */
  readonly vendor: string;
  /** Aborts the query, which then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** Aggregated usage. An account sees only its own. */
export class Analytics {
  readonly #dependencies: AnalyticsDependencies;

  constructor(dependencies: AnalyticsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Runs a query. Throws 400. */
  async query(
    wanted: AnalyticsQuery,
    { accountId, vendor, signal }: AnalyticsCall,
  ): Promise<AnalyticsAnswer> {
    const { events, tenancy, apps, classifiers, clock } = this.#dependencies;
    const startedMs = clock.monotonic();
    const wasRefilling = events.isRefilling;
    const classifier = await this.#classifiersOf(wanted, accountId);
    const { tagColumns, ...query } = parseAnalyticsQuery(wanted, {
      vendor,
      nowMs: clock.now(),
      classifier,
    });
    const names = new AccountNames({ tenancy, apps, classifiers }, accountId);
    const { filters, warnings } = await resolveFilters(query.filters, { names, apps });
    const ordersByName = query.order !== null && isShownByName(query.order.field);
    const answer = await events.query(
      // Events hold ids, not names: to order by name, fetch all rows, then sort and cut here.
      { ...query, accountId, filters, ...(ordersByName && { limit: MAX_ROWS }) },
      signal,
    );
    const named = await nameRows(answer.rows, query, names);
    const ordered = ordersByName ? await runInTurns(inOrderOfNames(named, query)) : named;
    const rows = ordered.slice(0, query.limit);
    // The query may have found that events are lost.
    const refillNotes = wasRefilling || events.isRefilling ? [REFILL_WARNING] : [];
    const notes = [...warnings, ...missingNotes(answer.missingBeforeMs), ...refillNotes];
    return {
      data: await runInTurns(analyticsRows(rows, { ...query, tagColumns }, vendor)),
      metadata: {
        query_time_ms: Math.round(clock.monotonic() - startedMs),
        row_count: rows.length,
        truncated: answer.isTruncated || named.length > rows.length,
      },
      ...(notes.length > 0 && { warnings: notes }),
    };
  }

  async #classifiersOf(wanted: AnalyticsQuery, accountId: string): Promise<FoundClassifier> {
    const ids = classifierIdsOf(wanted);
    const found = await Promise.all(ids.map((id) => this.#dependencies.classifiers.find(accountId, id)));
    return (id) => found[ids.indexOf(id)];
  }
}

async function nameRows(
  rows: readonly EventRow[],
  { dimensions }: Pick<CheckedAnalyticsQuery, 'dimensions'>,
  names: AccountNames,
): Promise<EventRow[]> {
  const columns = await Promise.all(
    dimensions.map((dimension, place) =>
      shownValues(
        dimension,
        rows.map((row) => row.dimensions[place] ?? null),
        names,
      ),
    ),
  );
  return runInTurns(withDimensions(rows, columns));
}

function* withDimensions(
  rows: readonly EventRow[],
  columns: readonly (readonly (string | null)[])[],
): Sliced<EventRow[]> {
  const named: EventRow[] = [];
  yield* forEachSliced(rows, (row, index) => {
    const ofTags = row.dimensions.slice(columns.length);
    named.push({ ...row, dimensions: [...columns.map((column) => column[index] ?? null), ...ofTags] });
  });
  return named;
}

/** Stable sort by name; nulls last. */
function inOrderOfNames(
  rows: readonly EventRow[],
  { order, dimensions }: Pick<CheckedAnalyticsQuery, 'order' | 'dimensions'>,
): Sliced<EventRow[]> {
  const place = dimensions.indexOf(order?.field as AnalyticsDimension);
  const sign = order?.direction === 'desc' ? -1 : 1;
  const nameOf = (row: EventRow) => row.dimensions[place] ?? null;
  return sortSliced(rows, (one, other) => {
    const [first, second] = [nameOf(one), nameOf(other)];
    if (first === second) return 0;
    if (first === null || second === null) return first === null ? 1 : -1;
    return first < second ? -sign : sign;
  });
}

function missingNotes(missingBeforeMs: number | null): string[] {
  if (missingBeforeMs === null) return [];
  const from = isoTime(missingBeforeMs);
  return [`time_range: what this question needs is kept from ${from} on; usage from before that is left out`];
}

function* analyticsRows(
  rows: readonly EventRow[],
  query: CheckedAnalyticsQuery,
  vendor: string,
): Sliced<AnalyticsRow[]> {
  const shown: AnalyticsRow[] = [];
  yield* forEachSliced(rows, (row) => shown.push(analyticsRow(row, query, vendor)));
  return shown;
}

function analyticsRow(
  { bucketMs, dimensions: values, metrics: sums }: EventRow,
  { granularity, dimensions, metrics, tagColumns }: CheckedAnalyticsQuery,
  vendor: string,
): AnalyticsRow {
  const row: AnalyticsRow = {};
  if (bucketMs !== null) row[`date__${granularity}`] = isoTime(bucketMs);
  dimensions.forEach((dimension, place) => {
    row[dimension] = values[place] ?? null;
    // Part of the format; there is no registry of users with addresses.
    if (dimension === 'user') row.user_email = null;
  });
  tagColumns.forEach((name, place) => {
    row[name] = values[dimensions.length + place] ?? null;
  });
  metrics.forEach((metric, place) => {
    const value = sums[place] ?? null;
    row[wireMetric(metric, vendor)] = METRICS[metric].unit === 'money' ? usdOrNull(value) : numberOf(value);
  });
  return row;
}

function usdOrNull(value: MetricValue): number | null {
  return value === null ? null : usdOf(BigInt(value));
}

/** Integers above 2^53 become strings: JSON numbers would lose digits. */
function numberOf(value: MetricValue): number | string | null {
  if (typeof value !== 'bigint') return value;
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? value.toString() : Number(value);
}
