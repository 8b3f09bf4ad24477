import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GenerationIds, traceIdOf } from '../../../src/ir/trace.ts';
import { positionIn } from '../../../src/manage/generations/log-cursor.ts';
import {
  DIMENSIONS,
  type DimensionName,
  GRANULARITIES,
  METRICS,
  type MetricName,
  OPERATORS,
  type Operator,
} from '../../../src/ports/events/event-names.ts';
import {
  type AppTotals,
  CONVERSATION_SORT_VALUES,
  type Conversation,
  type ConversationPosition,
  type ConversationSort,
  type ConversationsQuery,
  type EventBundle,
  type EventFilter,
  type EventQuery,
  type EventRow,
  type EventStore,
  type GenerationEvent,
  type LogCounts,
  type LogFilter,
  type LogPage,
  type LogPosition,
  type LogSort,
} from '../../../src/ports/events/events.ts';
import { GenerationRefused } from '../../../src/ports/generations/generations.ts';
import { breakdownOfQueries } from '../../../src/store/events/breakdown-of-queries.ts';
import { openEventBundle } from '../../../src/store/events/duckdb/bundle/event-bundle.ts';
import { eventHistory, HISTORY_START_MS } from '../../kit/builders/event-history.ts';
import { logFilterOf } from '../../kit/builders/log-filter.ts';
import { runs } from '../../kit/builders/runs.ts';
import { countConversations } from './count-conversations.ts';
import { type AppCount, countApps, countEvents } from './count-events.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** An adapter under test, and how to close it. */
export interface EventStoreUnderTest {
  readonly events: EventStore;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
export const EVENTS_PER_DAY = 500;
/** Entries of a page of the log. */
const LOG_PAGE = runs(350, 170);
const SOME_DAYS = 8;
const ALL_METRICS = Object.keys(METRICS) as MetricName[];
const DAILY_METRICS = ALL_METRICS.filter((metric) => METRICS[metric].isDaily);
const ALL_DIMENSIONS = Object.keys(DIMENSIONS) as DimensionName[];

const query = (more: Partial<EventQuery>): EventQuery => ({
  accountId: null,
  metrics: ['request_count'],
  dimensions: [],
  granularity: null,
  startMs: HISTORY_START_MS,
  endMs: HISTORY_START_MS + SOME_DAYS * DAY_MS,
  filters: [],
  order: null,
  limit: 100_000,
  groupLimit: null,
  ...more,
});

/** Ids of all pages of a log. */
async function pagesOf(
  events: EventStore,
  filter: LogFilter,
  order: 'asc' | 'desc',
  sort: LogSort = 'arrival',
): Promise<string[]> {
  const ids: string[] = [];
  for (let after: LogPosition | null = null; ; ) {
    const page: LogPage = await events.log({
      ...filter,
      sort,
      order,
      after,
      limit: LOG_PAGE,
      stopAfterMs: null,
    });
    ids.push(...page.rows.map(({ id }) => id));
    const last = page.rows.at(-1);
    if (last === undefined) return ids;
    after = positionIn(sort, last);
  }
}

/** All pages of a list of conversations. */
async function conversationsOf(
  events: EventStore,
  query: ConversationsQuery,
): Promise<readonly Conversation[]> {
  const found: Conversation[] = [];
  for (let after: ConversationPosition | null = null; ; ) {
    const { conversations } = await events.conversations({ ...query, after });
    found.push(...conversations);
    const last = conversations.at(-1);
    if (last === undefined || conversations.length < query.limit) return found;
    after = { ...last, value: CONVERSATION_SORT_VALUES[query.sort](last) };
  }
}

const tenWeeks = { endMs: HISTORY_START_MS + 70 * DAY_MS };

/** A start that is no beginning of a day: daily sums cannot answer. */
const withinDays = { startMs: HISTORY_START_MS + 1 };

const keyOf = (row: EventRow) => JSON.stringify([row.bucketMs, row.dimensions]);

/** Rows with whole numbers as they are and others to twelve digits: the order of adding says the rest. */
function comparable(rows: readonly EventRow[]): unknown[] {
  return rows
    .map((row) => ({
      key: keyOf(row),
      metrics: row.metrics.map((value) => (typeof value === 'number' ? value.toPrecision(12) : value)),
    }))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** A condition on something that few values are taken by. */
/** Columns as rows. */
function countsOf({ apps, tokens, requests }: AppTotals): AppCount[] {
  const at = (columns: AppTotals['tokens'], row: number) =>
    columns.map((column) => BigInt(column[row] ?? -1));
  return Array.from(apps, (app, row) => ({ app, tokens: at(tokens, row), requests: at(requests, row) }));
}

function someFilter(): fc.Arbitrary<EventFilter> {
  return fc.record({
    field: fc.constantFrom('user', 'app', 'finish_reason', 'provider', 'zdr'),
    operator: fc.constantFrom(...(Object.keys(OPERATORS) as Operator[])),
    values: fc.subarray(['user-1', 'app-2.example', 'stop', 'Provider 3', 'true'], { minLength: 1 }),
    includesUnset: fc.boolean(),
  });
}

/** A file of events that were prepared apart. */
async function bundled(file: string, batches: readonly (readonly GenerationEvent[])[]): Promise<EventBundle> {
  const bundle = openEventBundle(file);
  for (const batch of batches) await bundle.add(batch);
  await bundle.close();
  return { file };
}

/** What every EventStore must do. `open` gives an empty one each time. Its history has so many days. */
export function eventStoreContract(
  name: string,
  open: () => Promise<EventStoreUnderTest>,
  DAYS: number,
): void {
  const HISTORY = [...eventHistory(EVENTS_PER_DAY * DAYS, DAYS)];

  /** The log of the last days. */
  const logRange = {
    fromMs: HISTORY_START_MS + (DAYS - 4) * DAY_MS,
    toMs: HISTORY_START_MS + DAYS * DAY_MS,
  };

  const EVERYTHING = logFilterOf({ accountId: 'account-0', ...logRange });

  /** All of the history. */
  const throughout = { endMs: HISTORY_START_MS + DAYS * DAY_MS };

  describe(`EventStore: ${name}`, () => {
    let under: EventStoreUnderTest;
    let events: EventStore;

    beforeAll(async () => {
      under = await open();
      events = under.events;
      await events.append(HISTORY);
    });

    afterAll(() => under.close());

    async function agrees(asked: EventQuery): Promise<void> {
      const { rows } = await events.query(asked);
      expect(comparable(rows)).toEqual(comparable(countEvents(HISTORY, asked)));
    }

    it.each([null, 'day'] as const)(
      'counts every metric of all days by model and %s',
      async (granularity) => {
        const all = { ...throughout, granularity, dimensions: ['model'] as const };
        await agrees(query({ ...all, ...withinDays, metrics: ALL_METRICS }));
        await agrees(query({ ...all, metrics: DAILY_METRICS }));
      },
      60_000,
    );

    it.each([null, ...GRANULARITIES])('counts every metric by model and %s', async (granularity) => {
      await agrees(query({ ...withinDays, metrics: ALL_METRICS, granularity, dimensions: ['model'] }));
    });

    it.each([null, 'day', 'week', 'month'] as const)(
      'counts daily metrics by whole %s',
      async (granularity) => {
        await agrees(query({ metrics: DAILY_METRICS, granularity, dimensions: ['model', 'app'] }));
      },
    );

    it.each(ALL_DIMENSIONS)('groups by %s, null for what is not set', async (dimension) => {
      await agrees(query({ metrics: ['request_count', 'total_usage'], dimensions: [dimension] }));
    });

    it.each([
      ['model_id', 'hour', 100, [], null],
      ['app', 'day', 3, [], null],
      ['user', 'week', 100, ['app-2.example', 'app-3.example'], null],
      ['provider', 'minute', 2, [], 'account-1'],
      ['model_id', 'hour', 100, ['nobody.example'], null],
    ] as const)(
      'breaks down by %s and %s as single queries do',
      async (dimension, granularity, limit, apps, account) => {
        const asked = {
          accountId: account ?? 'account-0',
          startMs: HISTORY_START_MS + 2 * DAY_MS + 12_345,
          endMs: HISTORY_START_MS + (granularity === 'minute' ? 2.1 : 5) * DAY_MS,
          filters:
            apps.length === 0
              ? []
              : [{ field: 'app', operator: 'in', values: apps, includesUnset: false } as const],
          metrics: ['total_usage', 'request_count', 'cache_hit_rate', 'p50_latency', 'p99_duration'],
          granularity,
          dimension,
          limit,
        } as const;
        const { before, ...rest } = await events.breakdown(asked);
        const { before: expectedBefore, ...expected } = await breakdownOfQueries(events, asked);
        expect(rest).toEqual(expected);
        expect({ ...before, groups: comparable(before.groups) }).toEqual({
          ...expectedBefore,
          groups: comparable(expectedBefore.groups),
        });
        expect(rest.now.groups.length).toBe(Math.min(limit, rest.groupCount));
      },
    );

    it('groups by four dimensions at once', async () => {
      const dimensions = ['model_id', 'model', 'endpoint', 'provider'] as const;
      await agrees(query({ metrics: ['request_count', 'credits_usage'], granularity: 'day', dimensions }));
    });

    it.each(Object.keys(OPERATORS) as Operator[])('filters with %s', async (operator) => {
      const values = OPERATORS[operator] === 'array' ? ['user-0', 'user-2'] : ['user-1'];
      for (const more of [{}, withinDays]) {
        for (const includesUnset of [false, true]) {
          const filters = [{ field: 'user' as const, operator, values, includesUnset }];
          await agrees(query({ ...more, filters, dimensions: ['user'] }));
        }
      }
    });

    it('reads a filter as a value, even if it looks like SQL or a pattern', async () => {
      const injected = `end'user "1"; --`;
      const filters = [
        {
          field: 'external_user' as const,
          operator: 'eq' as const,
          values: [injected],
          includesUnset: false,
        },
      ];
      await agrees(query({ filters }));
      expect((await events.query(query({ filters }))).rows).toHaveLength(1);
    });

    it('finds nothing in an empty list, and everything that is set outside of one', async () => {
      for (const operator of ['in', 'not_in'] as const) {
        await agrees(query({ filters: [{ field: 'app', operator, values: [], includesUnset: false }] }));
      }
    });

    it('counts one account alone', async () => {
      await agrees(query({ accountId: 'account-1', metrics: ALL_METRICS }));
    });

    it('counts the first millisecond of a range and not the one after its last', async () => {
      const [first, second] = HISTORY as [GenerationEvent, GenerationEvent];
      const { rows } = await events.query(query({ startMs: first.createdAtMs, endMs: second.createdAtMs }));
      expect(rows).toEqual([{ bucketMs: null, dimensions: [], metrics: [1n] }]);
    });

    it('has no row where nothing matched', async () => {
      const answer = await events.query(query({ startMs: 0, endMs: DAY_MS, metrics: ALL_METRICS }));
      expect(answer).toEqual({
        rows: [],
        totalRows: 0,
        isTruncated: false,
        missingBeforeMs: null,
      });
    });

    it('begins weeks on Monday and months on their first day, in UTC', async () => {
      const weeks = await events.query(query({ ...tenWeeks, granularity: 'week' }));
      for (const { bucketMs } of weeks.rows) expect(new Date(bucketMs ?? 0).getUTCDay()).toBe(1);
      const months = await events.query(query({ ...tenWeeks, granularity: 'month' }));
      expect(months.rows.map(({ bucketMs }) => new Date(bucketMs ?? 0).toISOString())).toEqual([
        '2026-03-01T00:00:00.000Z',
        '2026-02-01T00:00:00.000Z',
        '2026-01-01T00:00:00.000Z',
      ]);
    });

    it('orders rows as requested, nulls last', async () => {
      for (const direction of ['asc', 'desc'] as const) {
        const sign = direction === 'asc' ? 1 : -1;
        const byMetric = await events.query(
          query({
            dimensions: ['model'],
            order: { field: 'request_count', direction },
            metrics: ['tokens_total', 'request_count'],
          }),
        );
        const counts = byMetric.rows.map(({ metrics }) => Number(metrics[1]));
        expect(counts).toEqual(counts.toSorted((one, other) => sign * (one - other)));
        const byName = await events.query(query({ dimensions: ['app'], order: { field: 'app', direction } }));
        expect(byName.rows.at(-1)?.dimensions).toEqual([null]);
        const byLength = await events.query(
          query({
            dimensions: ['context_length_bucket'],
            order: { field: 'context_length_bucket', direction },
          }),
        );
        const lengths = ['1K', '10K', '100K'];
        expect(byLength.rows.map(({ dimensions: [length] }) => length)).toEqual(
          direction === 'asc' ? lengths : lengths.reverse(),
        );
        const byDate = await events.query(query({ granularity: 'day', order: { field: 'date', direction } }));
        const dates = byDate.rows.map(({ bucketMs }) => bucketMs ?? 0);
        expect(dates).toEqual(dates.toSorted((one, other) => sign * (one - other)));
      }
    });

    it('orders by a metric that is not requested', async () => {
      const order = { field: 'request_count', direction: 'desc' } as const;
      const with_ = await events.query(query({ dimensions: ['model'], order }));
      const without = await events.query(query({ dimensions: ['model'], order, metrics: ['p50_latency'] }));
      expect(without.rows.map(({ dimensions }) => dimensions)).toEqual(
        with_.rows.map(({ dimensions }) => dimensions),
      );
    });

    it('takes any order, also one that cannot matter', async () => {
      for (const field of ['date', 'context_length_bucket', 'request_count'] as const) {
        for (const more of [{}, { granularity: 'day' as const }, { dimensions: ['model'] as const }]) {
          const { rows } = await events.query(query({ ...more, order: { field, direction: 'asc' } }));
          const sum = rows.reduce((total, { metrics }) => total + Number(metrics[0]), 0);
          expect(sum).toBe(SOME_DAYS * EVENTS_PER_DAY);
        }
      }
    });

    it('cuts at the limit and reports it', async () => {
      const all = await events.query(query({ granularity: 'day', dimensions: ['model'] }));
      const some = await events.query(query({ granularity: 'day', dimensions: ['model'], limit: 7 }));
      expect(some.rows).toEqual(all.rows.slice(0, 7));
      expect([all.isTruncated, some.isTruncated]).toEqual([false, true]);
      expect(some.totalRows).toBe(all.rows.length);
    });

    it('keeps so many rows of each group, the first ones in order', async () => {
      const weeks = query({ ...tenWeeks, granularity: 'week', dimensions: ['model'] });
      const all = await events.query(weeks);
      const some = await events.query({ ...weeks, groupLimit: 2 });
      const seen = new Map<string, number>();
      const expected = all.rows.filter((row) => {
        const group = JSON.stringify(row.dimensions);
        seen.set(group, (seen.get(group) ?? 0) + 1);
        return (seen.get(group) ?? 0) <= 2;
      });
      expect(some.rows).toEqual(expected);
      expect(some.isTruncated).toBe(true);
      const ungrouped = await events.query({ ...weeks, dimensions: [], groupLimit: 2 });
      expect(ungrouped.isTruncated).toBe(false);
    });

    it('has groups that sum up to the whole', async () => {
      const sums = ALL_METRICS.filter((metric) => ['count', 'money'].includes(METRICS[metric].unit));
      await fc.assert(
        fc.asyncProperty(
          fc.subarray(ALL_DIMENSIONS, { maxLength: 2 }),
          fc.constantFrom(null, ...GRANULARITIES),
          fc.integer({ min: 0, max: DAYS * DAY_MS }),
          fc.integer({ min: 1, max: 20 * DAY_MS }),
          fc.boolean(),
          fc.array(someFilter(), { maxLength: 2 }),
          async (dimensions, granularity, start, length, isWhole, filters) => {
            const unit = isWhole ? DAY_MS : 1;
            const startMs = HISTORY_START_MS + start - (start % unit);
            const endMs = startMs + Math.ceil(length / unit) * unit;
            const range = { startMs, endMs, metrics: sums, filters };
            const total = (await events.query(query(range))).rows[0]?.metrics ?? [];
            const { rows } = await events.query(query({ ...range, dimensions, granularity }));
            expect(rows.length === 0).toBe(total.length === 0);
            total.forEach((whole, index) => {
              const parts = rows.map((row) => row.metrics[index]).filter((part) => typeof part === 'bigint');
              expect(parts.length === 0 ? null : parts.reduce((sum, part) => sum + part, 0n)).toBe(whole);
            });
          },
        ),
        { numRuns: runs(6, 75) },
      );
    });

    it('sums the usage of every app over several ranges of days, before and after compaction', async () => {
      const windows = [
        [0, DAYS],
        [10, 11],
        [17, 180],
        [100, 250],
        [DAYS, DAYS + 3],
      ].map(([first = 0, end = 0]) => ({
        startMs: HISTORY_START_MS + first * DAY_MS,
        endMs: HISTORY_START_MS + end * DAY_MS,
      }));
      const inOrder = async (asked: typeof windows) =>
        countsOf(await events.appTotals(asked)).sort((one, other) => (one.app < other.app ? -1 : 1));
      for (const asked of [windows, windows.toReversed(), windows.slice(2, 3)]) {
        expect(await inOrder(asked)).toEqual(countApps(HISTORY, asked));
      }
      expect(await events.prune(HISTORY_START_MS)).toBe(0);
      expect(await inOrder(windows)).toEqual(countApps(HISTORY, windows));
      expect(await events.appTotals([])).toEqual({ apps: [], tokens: [], requests: [] });
      await agrees(query({ ...throughout, metrics: DAILY_METRICS, granularity: 'month' }));
    });

    it('lists single generations page by page, and counts them', async () => {
      const all = { ...EVERYTHING, ...logRange };
      const lastSessions = new Set(HISTORY.slice(-400).flatMap(({ log }) => log?.sessionId ?? []));
      const beginningOfLastIds = `gen-${HISTORY.length / 1_000 - 1}`;
      const filters: readonly (readonly [LogFilter, (event: GenerationEvent) => boolean])[] = [
        [all, () => true],
        [{ ...all, states: ['failed', 'fallback'] }, ({ log }) => /failed|fallback/.test(log?.state ?? '')],
        [
          { ...all, models: ['acme/model-1', 'acme/model-2'], keys: ['key-0', 'key-2'] },
          ({ modelId, keyHash }) => /-[12]$/.test(modelId) && /^key-[02]$/.test(keyHash ?? ''),
        ],
        [
          { ...all, providers: ['Provider 1'], workspaces: ['workspace-0'], apps: ['app-0.example'] },
          ({ provider, workspaceId, app }) =>
            provider === 'Provider 1' && workspaceId === 'workspace-0' && app === 'app-0.example',
        ],
        [
          { ...all, minDurationMs: 20_000, maxDurationMs: 25_000, isStreamed: true },
          ({ log }) => log?.isStreamed === true && log.durationMs >= 20_000 && log.durationMs <= 25_000,
        ],
        [
          { ...all, minNanos: 4_000_000n, maxNanos: 4_100_000n, formats: ['chat'] },
          ({ creditNanos, log }) =>
            creditNanos >= 4_000_000n && creditNanos <= 4_100_000n && log?.format === 'chat',
        ],
        [
          { ...all, errorStatuses: [502], finishReasons: ['error'] },
          ({ log, finishReason }) => log?.errorStatus === 502 && finishReason === 'error',
        ],
        [
          { ...all, sessionIds: ['session', ...lastSessions] },
          ({ log }) => lastSessions.has(log?.sessionId ?? ''),
        ],
        [
          { ...all, externalUsers: [`end'user "1"; --`], models: ['acme/model-1'] },
          ({ externalUser, modelId }) => externalUser === `end'user "1"; --` && modelId === 'acme/model-1',
        ],
        [{ ...all, search: 'session-40' }, ({ log }) => log?.sessionId?.includes('session-40') ?? false],
        [{ ...all, traceIds: [traceIdOf('workflow 12')] }, isOfTrace(traceIdOf('workflow 12'))],
        [{ ...all, search: 'workflow 12' }, isOfTrace(traceIdOf('workflow 12'))],
        [{ ...all, search: traceIdOf('workflow 12').toUpperCase() }, isOfTrace(traceIdOf('workflow 12'))],
        [{ ...all, search: `end'user "1"` }, ({ externalUser }) => externalUser?.includes(`"1"`) ?? false],
        [{ ...all, search: beginningOfLastIds }, ({ id }) => id.startsWith(beginningOfLastIds)],
        [
          { ...all, endedFromMs: logRange.toMs - 3_600_000 },
          ({ createdAtMs, log }) => createdAtMs + (log?.durationMs ?? 0) >= logRange.toMs - 3_600_000,
        ],
      ];
      for (const [filter, isMatch] of filters) {
        const expected = HISTORY.filter(
          (event) =>
            event.accountId === filter.accountId &&
            event.createdAtMs >= filter.fromMs &&
            event.createdAtMs < filter.toMs &&
            isMatch(event),
        );
        const ids = expected.map(({ id }) => id);
        expect(ids.length).toBeGreaterThan(0);
        expect(await pagesOf(events, filter, 'asc')).toEqual(ids);
        expect(await pagesOf(events, filter, 'desc')).toEqual(ids.toReversed());
        const { buckets } = await events.logCounts({ ...filter, bucketMs: 3_600_000, stopAfterMs: null });
        expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(ids.length);
        expect(buckets.reduce((sum, { failed }) => sum + failed, 0)).toBe(
          expected.filter(({ log }) => log?.state === 'failed').length,
        );
        expect(buckets.every(({ startMs }) => startMs % 3_600_000 === 0)).toBe(true);
      }
    });

    it('finds a generation by the trace of its own, whose id is not stored', async () => {
      const { events, close } = await open();
      const [like] = eventHistory(1, 1);
      const { log, ...rest } = like as Required<GenerationEvent>;
      const second = HISTORY_START_MS / 1_000 + 90_000;
      const idOf = (place: number) => `gen-${second + place}-${'x'.repeat(19)}${place}`;
      const own = (place: number) => new GenerationIds(idOf(place)).ownTraceId;
      // The third says that it is of the trace of the first, the fourth of another.
      const named = [null, null, own(0), traceIdOf('workflow')];
      await events.append(
        named.map((traceId, place) => ({
          ...rest,
          id: idOf(place),
          createdAtMs: (second + place) * 1_000 + 999,
          log: { ...log, traceId },
        })),
      );
      const day = { fromMs: HISTORY_START_MS + DAY_MS, toMs: HISTORY_START_MS + 2 * DAY_MS - 1 };
      const year = { fromMs: HISTORY_START_MS - 300 * DAY_MS, toMs: HISTORY_START_MS + 65 * DAY_MS };
      for (const range of [day, year]) {
        const all = logFilterOf({ accountId: rest.accountId, ...range });
        const found: readonly (readonly [Partial<LogFilter>, readonly number[]])[] = [
          [{ traceIds: [own(0)] }, [0, 2]],
          [{ traceIds: [own(1)] }, [1]],
          [{ traceIds: [own(1), own(0)] }, [0, 1, 2]],
          [{ traceIds: [own(3)] }, []],
          [{ traceIds: [own(1)], models: ['of-nobody'] }, []],
          [{ search: own(1) }, [1]],
          [{ search: own(1).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') }, [1]],
          [{ search: own(3) }, []],
        ];
        for (const [filter, places] of found) {
          expect(await pagesOf(events, { ...all, ...filter }, 'asc')).toEqual(places.map(idOf));
          const counted = { ...all, ...filter, bucketMs: 3_600_000, stopAfterMs: null };
          const { buckets } = await events.logCounts(counted);
          expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(places.length);
        }
      }
      await close();
    });

    it('lists the longest, the slowest to begin and the dearest first', async () => {
      const filter = { ...EVERYTHING, ...logRange, models: ['acme/model-1'] };
      const matching = HISTORY.filter(
        ({ accountId, createdAtMs, modelId }) =>
          accountId === filter.accountId &&
          createdAtMs >= filter.fromMs &&
          createdAtMs < filter.toMs &&
          modelId === 'acme/model-1',
      );
      const values: Readonly<Record<Exclude<LogSort, 'arrival'>, (event: GenerationEvent) => number>> = {
        duration: ({ log }) => log?.durationMs ?? 0,
        'first-content': ({ latencyMs }) => latencyMs ?? 0,
        cost: ({ creditNanos }) => Number(creditNanos),
      };
      for (const [sort, sortedBy] of Object.entries(values)) {
        const ids = matching
          .toSorted((one, other) => sortedBy(one) - sortedBy(other) || (one.id < other.id ? -1 : 1))
          .map(({ id }) => id);
        expect(await pagesOf(events, filter, 'asc', sort as LogSort)).toEqual(ids);
        expect(await pagesOf(events, filter, 'desc', sort as LogSort)).toEqual(ids.toReversed());
      }
    });

    it('searches days for a text, in ids of others too, and lists what arrived at the same time by id', async () => {
      const { events, close } = await open();
      const [like] = eventHistory(1, 1);
      const { log, ...older } = like as Required<GenerationEvent>;
      const logged = { ...older, log: { ...log, requestId: 'wanted', state: 'failed' as const } };
      const unlogged = { ...older, externalUser: 'is wanted', finishReason: 'error' };
      const arrival = (hours: number) => HISTORY_START_MS + hours * 3_600_000;
      const added = [1, 30, 30, 30, 30, 60, 95].map((hours, place) => ({
        ...(place === 2 ? unlogged : logged),
        id: `foreign-${place}`,
        createdAtMs: arrival(hours),
      }));
      const ofAnother = { ...older, id: 'wanted', createdAtMs: arrival(2), accountId: 'another' };
      await events.append([...added, ofAnother]);
      const range = { fromMs: HISTORY_START_MS, toMs: arrival(96) };
      const filter = { ...logFilterOf({ accountId: older.accountId, ...range }), search: 'wanted' };
      const ids = added.map(({ id }) => id);
      const page = { ...filter, sort: 'arrival', order: 'desc', after: null, stopAfterMs: null } as const;
      for (let limit = 1; limit <= ids.length; limit++) {
        const { rows } = await events.log({ ...page, limit });
        expect(rows.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, limit));
      }
      expect(await events.log({ ...page, search: 'foreign-3', limit: 9 })).toMatchObject({
        rows: [{ id: 'foreign-3' }],
        searchedToMs: null,
      });
      expect(await events.log({ ...page, models: ['of-nobody'], limit: 9 })).toEqual({
        rows: [],
        searchedToMs: null,
      });
      for (const search of ['wanted', null]) {
        const { buckets } = await events.logCounts({
          ...filter,
          search,
          bucketMs: DAY_MS,
          stopAfterMs: null,
        });
        expect(buckets.map(({ count, failed }) => [count, failed])).toEqual([
          [1, 1],
          [4, 4],
          [1, 1],
          [1, 1],
        ]);
      }
      await close();
    });

    it('stops a search and a count for lack of time, and goes on where they stopped', async () => {
      const filter = { ...EVERYTHING, ...logRange, states: ['failed' as const] };
      const ids = await pagesOf(events, filter, 'asc');
      // Less than any statement takes: each answer has one part of the range.
      const stopAfterMs = 0.001;
      for (const order of ['asc', 'desc'] as const) {
        const found: string[] = [];
        const stops: number[] = [];
        for (let after: LogPosition | null = null; ; ) {
          const page: LogPage = await events.log({
            ...filter,
            sort: 'arrival',
            order,
            after,
            limit: HISTORY.length,
            stopAfterMs,
          });
          found.push(...page.rows.map(({ id }) => id));
          if (page.searchedToMs === null) break;
          stops.push(page.searchedToMs);
          after = { value: BigInt(page.searchedToMs), id: '' };
        }
        expect(found).toEqual(order === 'asc' ? ids : ids.toReversed());
        expect(stops.length).toBeGreaterThan(2);
        expect(new Set(stops).size).toBe(stops.length);
      }
      const counting = { ...filter, bucketMs: 7 * 3_600_000 };
      const all = await events.logCounts({ ...counting, stopAfterMs: null });
      const parts: LogCounts['buckets'][] = [];
      for (let toMs = filter.toMs; ; ) {
        const part: LogCounts = await events.logCounts({ ...counting, toMs, stopAfterMs });
        parts.unshift(part.buckets);
        if (part.countedFromMs === null) break;
        toMs = part.countedFromMs;
      }
      expect(parts.length).toBeGreaterThan(2);
      expect(parts.flat()).toEqual(all.buckets);
    });

    describe('conversations', () => {
      /** Long enough for several generations of most sessions, in several workspaces. */
      const range = { fromMs: logRange.toMs - 40 * DAY_MS, toMs: logRange.toMs };
      const asked: ConversationsQuery = {
        ...logFilterOf({ accountId: 'account-0', ...range }),
        sessionSearch: null,
        sort: 'last',
        order: 'desc',
        after: null,
        limit: 200,
      };
      const SORTS = Object.keys(CONVERSATION_SORT_VALUES) as ConversationSort[];

      it.each(SORTS.flatMap((sort) => (['desc', 'asc'] as const).map((order) => [sort, order] as const)))(
        'lists them in the order of %s, %s, page by page',
        async (sort, order) => {
          const query = { ...asked, sort, order, limit: 350 };
          const expected = countConversations(HISTORY, query);
          expect(expected.length).toBeGreaterThan(700);
          expect(await conversationsOf(events, query)).toEqual(expected);
        },
      );

      it('counts what matches alone', async () => {
        const lastSessions = new Set(HISTORY.slice(-200).flatMap(({ log }) => log?.sessionId ?? []));
        const filters: readonly (readonly [
          Partial<ConversationsQuery>,
          (event: GenerationEvent) => boolean,
        ])[] = [
          [{ workspaces: ['workspace-1'] }, ({ workspaceId }) => workspaceId === 'workspace-1'],
          [
            { keys: ['key-2'], models: ['acme/model-1', 'acme/model-2'] },
            ({ keyHash, modelId }) => keyHash === 'key-2' && /-[12]$/.test(modelId),
          ],
          [{ apps: ['app-4.example'] }, ({ app }) => app === 'app-4.example'],
          [{ sessionIds: [...lastSessions] }, ({ log }) => lastSessions.has(log?.sessionId ?? '')],
          [{ sessionSearch: 'ion-40' }, ({ log }) => log?.sessionId?.includes('ion-40') ?? false],
          [{ externalUsers: [`end'user "1"; --`] }, ({ externalUser }) => /"1"/.test(externalUser ?? '')],
        ];
        for (const [filter, isMatch] of filters) {
          for (const sort of ['last', 'cost'] as const) {
            const query = { ...asked, ...filter, sort };
            const expected = countConversations(HISTORY, query, isMatch);
            expect(expected.length).toBeGreaterThan(0);
            expect(await conversationsOf(events, query)).toEqual(expected);
          }
        }
        for (const filter of [
          { accountId: 'account-2' },
          { sessionSearch: 'of-nobody' },
          { toMs: range.fromMs },
        ]) {
          expect((await events.conversations({ ...asked, ...filter })).conversations).toEqual([]);
        }
      });

      it('tells workspaces apart, keeps any text as it is, and counts refused requests by themselves', async () => {
        const { events, close } = await open();
        const [like] = eventHistory(1, 1) as unknown as [Required<GenerationEvent>];
        const sessionId = `it's "1"\t\\ % of, one\n\u00e9`;
        const { refusedRequests: _, ...served } = like;
        const at = (hours: number, more: Partial<GenerationEvent>, log: object = {}): GenerationEvent => ({
          ...served,
          id: `conversation-${hours}`,
          createdAtMs: HISTORY_START_MS + hours * 3_600_000,
          log: { ...like.log, sessionId, ...log },
          ...more,
        });
        const added = [
          at(0, { workspaceId: 'workspace-1', keyHash: 'key-0', externalUser: 'first', app: 'a.example' }),
          at(1, { workspaceId: 'workspace-1', keyHash: 'key-1', externalUser: null, app: null }),
          at(2, { workspaceId: 'workspace-2', keyHash: null, modelId: 'acme/other' }),
          at(
            3,
            { workspaceId: 'workspace-2', modelId: 'not-read', refusedRequests: 7 },
            { state: 'refused' },
          ),
          at(4, {}, { sessionId: null }),
          at(30, { workspaceId: 'workspace-1', keyHash: 'key-0', externalUser: null, app: null }),
          at(31, { workspaceId: 'workspace-2', modelId: 'acme/other' }),
          at(60, { workspaceId: 'workspace-1', keyHash: 'key-1', externalUser: null, app: null }),
        ];
        await events.append(added);
        const query = {
          ...asked,
          accountId: served.accountId,
          fromMs: HISTORY_START_MS,
          toMs: HISTORY_START_MS + 4 * DAY_MS,
        };
        for (const sort of SORTS) {
          for (let limit = 1; limit <= 3; limit++) {
            const paged = { ...query, sort, limit };
            expect(await conversationsOf(events, paged)).toEqual(countConversations(added, paged));
          }
        }
        const { conversations, missingBeforeMs } = await events.conversations(query);
        expect(missingBeforeMs).toBeNull();
        expect(conversations).toMatchObject([
          {
            sessionId,
            workspaceId: 'workspace-1',
            generations: 4,
            keyHash: 'key-1',
            externalUser: 'first',
            app: 'a.example',
          },
          { sessionId, workspaceId: 'workspace-2', generations: 2, refused: 1, models: ['acme/other'] },
        ]);
        await events.prune(HISTORY_START_MS + DAY_MS);
        const left = await events.conversations(query);
        expect(left.missingBeforeMs).toBe(HISTORY_START_MS + DAY_MS);
        expect(left.conversations).toEqual(countConversations(added.slice(5), query));
        await close();
      });
    });

    it('shows every fact of a generation in the log', async () => {
      const event = HISTORY.findLast(
        ({ accountId, log }) => accountId === 'account-0' && log?.state === 'failed',
      );
      const { id, createdAtMs, creditNanos, log, modelId, keyHash } = event as GenerationEvent;
      const range = { fromMs: createdAtMs, toMs: createdAtMs + 1 };
      const page = { sort: 'arrival', order: 'desc', after: null, limit: 1, stopAfterMs: null } as const;
      const found = await events.log({ ...EVERYTHING, ...range, ...page });
      expect(found.rows).toMatchObject([{ id, createdAtMs, creditNanos, modelId, keyHash, ...log }]);
    });

    it('counts everything while sums are compacted', async () => {
      const { events, close } = await open();
      const [event] = eventHistory(1, 1);
      const counts = new Set<string>();
      // A day of its own in each round, so that no answer is cached and no earlier round hides a missing one.
      for (let round = 0; round < runs(8, 25); round++) {
        const startMs = HISTORY_START_MS + round * DAY_MS;
        const added = Array.from({ length: 10 }, (_, index) => ({
          ...(event as GenerationEvent),
          id: `compacted-${round}-${index}`,
          createdAtMs: startMs + index,
          app: 'known.example',
          isZdr: false,
        }));
        await events.append(added);
        let isCompacting = true;
        const compacted = events.prune(0).finally(() => {
          isCompacting = false;
        });
        for (let asked = 0; isCompacting; asked++) {
          const before = { startMs: startMs - asked, endMs: startMs };
          const { requests } = await events.appTotals([{ startMs, endMs: startMs + DAY_MS }, before]);
          counts.add(String(requests[0]?.[0]));
        }
        await compacted;
      }
      await close();
      expect([...counts]).toEqual(['10']);
    });

    it('rejects a query whose signal is aborted', async () => {
      const asked = query({ metrics: ALL_METRICS, dimensions: ['generation_id'] });
      await expect(events.query(asked, AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
      const controller = new AbortController();
      const answer = events.query(asked, controller.signal);
      controller.abort(new Error('too late'));
      await expect(answer).rejects.toThrow('too late');
    });

    it('keeps refused requests apart: only the log and `refused_count` have them', async () => {
      const other = await open();
      const served = HISTORY.slice(0, 40).map((event) => ({
        ...event,
        accountId: 'account-0',
        app: 'app-1.example',
        isZdr: false,
      }));
      const [first] = served as [GenerationEvent];
      const at = first.createdAtMs + 1;
      const refused: GenerationEvent[] = [402, 402, 429].map((errorStatus, index) => ({
        ...first,
        id: `gen-refused-${index}`,
        createdAtMs: at + index,
        provider: null,
        endpoint: null,
        finishReason: null,
        promptTokens: 0,
        completionTokens: 0,
        creditNanos: 0n,
        byokNanos: 0n,
        upstreamNanos: 0n,
        latencyMs: null,
        generationMs: null,
        log: {
          ...(first.log as NonNullable<typeof first.log>),
          state: 'refused',
          errorStatus,
          durationMs: 3,
        },
        refusedRequests: index + 1,
      }));
      await other.events.append([...served, ...refused]);
      const windows = [{ startMs: HISTORY_START_MS, endMs: HISTORY_START_MS + DAY_MS }];
      for (const more of [{}, withinDays]) {
        const metrics = Object.keys(more).length === 0 ? DAILY_METRICS : ALL_METRICS;
        const asked = query({ ...more, metrics: metrics.filter((name) => name !== 'refused_count') });
        const { rows } = await other.events.query(asked);
        expect(comparable(rows)).toEqual(comparable(countEvents(served, asked)));
      }
      const byStatus = query({
        metrics: ['refused_count', 'request_count', 'error_count', 'p99_duration', 'guardrail_invoked_rate'],
        dimensions: ['error_status'],
        filters: [{ field: 'error_status', operator: 'in', values: ['402', '429'], includesUnset: false }],
        order: { field: 'refused_count', direction: 'desc' },
      });
      const { rows: counted } = await other.events.query(byStatus);
      expect(
        counted.map(({ dimensions, metrics }) => [...dimensions, ...metrics.slice(0, 3).map(Number)]),
      ).toEqual(
        expect.arrayContaining([
          ['402', 3, 0, 0],
          ['429', 3, expect.any(Number), expect.any(Number)],
        ]),
      );
      expect(counted.find(({ dimensions: [status] }) => status === '402')?.metrics.slice(3)).toEqual([
        null,
        null,
      ]);
      const all = await other.events.query(
        query({ metrics: ['request_count', 'refused_count', 'p99_duration'] }),
      );
      const alone = query({ metrics: ['request_count', 'refused_count', 'p99_duration'] });
      expect(all.rows[0]?.metrics[1]).toEqual(6n);
      expect([all.rows[0]?.metrics[0], all.rows[0]?.metrics[2]]).toEqual([
        countEvents(served, alone)[0]?.metrics[0],
        countEvents(served, alone)[0]?.metrics[2],
      ]);
      expect(countsOf(await other.events.appTotals(windows))).toEqual(countApps(served, windows));
      const filter = logFilterOf({
        accountId: 'account-0',
        fromMs: HISTORY_START_MS,
        toMs: HISTORY_START_MS + SOME_DAYS * DAY_MS,
      });
      const page = {
        ...filter,
        sort: 'arrival',
        order: 'asc',
        after: null,
        limit: 100,
        stopAfterMs: null,
      } as const;
      expect((await other.events.log(page)).rows.length).toBe(43);
      const { rows: logged } = await other.events.log({ ...page, states: ['refused'] });
      expect(logged.map(({ id, refusedRequests }) => [id, refusedRequests])).toEqual([
        ['gen-refused-0', 1],
        ['gen-refused-1', 2],
        ['gen-refused-2', 3],
      ]);
      expect((await other.events.log({ ...page, states: ['answered'] })).rows[0]?.refusedRequests).toBeNull();
      for (const states of [[], ['refused', 'failed']] as const) {
        const { buckets } = await other.events.logCounts({
          ...filter,
          states,
          bucketMs: SOME_DAYS * DAY_MS,
          stopAfterMs: null,
        });
        const failed = served.filter(({ log }) => log?.state === 'failed').length;
        const sum = (name: 'count' | 'failed' | 'refused' | 'refusedRequests') =>
          buckets.reduce((total, bucket) => total + bucket[name], 0);
        expect([sum('count'), sum('failed'), sum('refused'), sum('refusedRequests')]).toEqual([
          states.length === 0 ? 43 : 3 + failed,
          failed,
          3,
          6,
        ]);
      }
      await other.events.prune(HISTORY_START_MS + 2 * DAY_MS);
      const daily = query({ metrics: ['request_count'] });
      expect((await other.events.query(daily)).rows).toEqual(countEvents(served, daily));
      await other.close();
    });

    describe('an added event', () => {
      let own: EventStoreUnderTest;
      const total = query({ metrics: ['request_count', 'total_usage'] });

      beforeAll(async () => {
        own = await open();
      });

      afterAll(() => own.close());

      it('is counted once, even if it is added several times', async () => {
        const batch = HISTORY.slice(0, 1_200);
        expect(await own.events.append([])).toEqual({ added: 0, known: 0, tooOld: 0 });
        expect(await own.events.append([...batch.slice(0, 700), ...batch.slice(0, 10)])).toEqual({
          added: 700,
          known: 10,
          tooOld: 0,
        });
        expect(await own.events.append(batch)).toEqual({ added: 500, known: 700, tooOld: 0 });
        const twice = await Promise.all([own.events.append(batch), own.events.append(batch)]);
        expect(twice.map(({ added }) => added)).toEqual([0, 0]);
        for (const asked of [total, { ...total, ...withinDays }]) {
          const { rows } = await own.events.query(asked);
          expect(rows).toEqual(countEvents(batch, asked));
        }
      });

      it('is refused with its whole batch if a number cannot be stored', async () => {
        const [first, second] = HISTORY.slice(2_000) as [GenerationEvent, GenerationEvent];
        for (const bad of [{ creditNanos: 2n ** 63n }, { promptTokens: 0.5 }]) {
          await expect(own.events.append([first, { ...second, ...bad }])).rejects.toThrow(GenerationRefused);
        }
        expect(await own.events.append([first])).toEqual({ added: 1, known: 0, tooOld: 0 });
      });

      it('comes in bundles, all or none, each event once', async () => {
        const directory = temporaryDirectory();
        const other = await open();
        const batch = HISTORY.slice(0, 3_000);
        const [first, second] = batch as [GenerationEvent, GenerationEvent];
        await other.events.append(batch.slice(1_000, 1_100));
        const elsewhere = { ...first, createdAtMs: first.createdAtMs + 100 * DAY_MS, promptTokens: 7 };
        const bundle = await bundled(`${directory.path}/it's.duckdb`, [
          batch.slice(0, 2_500),
          [elsewhere, ...batch.slice(2_400)],
        ]);
        expect(await other.events.addBundle(bundle)).toEqual({ added: 2_900, known: 201, tooOld: 0 });
        expect(await other.events.addBundle(bundle)).toEqual({ added: 0, known: 3_101, tooOld: 0 });
        for (const asked of [total, { ...total, ...withinDays }]) {
          const byModel = { ...asked, dimensions: ['model' as const], metrics: DAILY_METRICS };
          const { rows } = await other.events.query(byModel);
          expect(comparable(rows)).toEqual(comparable(countEvents(batch, byModel)));
        }
        expect(await other.events.append([first, second])).toEqual({ added: 0, known: 2, tooOld: 0 });
        await other.events.prune(HISTORY_START_MS + DAY_MS);
        const old = await bundled(`${directory.path}/old.duckdb`, [HISTORY.slice(0, 600)]);
        expect(await other.events.addBundle(old)).toEqual({ added: 0, known: 100, tooOld: 500 });
        const windows = [{ startMs: HISTORY_START_MS, endMs: HISTORY_START_MS + 6 * DAY_MS }];
        expect((await other.events.appTotals(windows)).apps.length).toBe(countApps(batch, windows).length);
        await other.close();
        directory.remove();
      });

      it('keeps its daily sums when events are pruned, and is not counted again', async () => {
        const kept = [...HISTORY.slice(0, 1_200), HISTORY[2_000] as GenerationEvent];
        const border = HISTORY_START_MS + DAY_MS;
        const old = kept.filter(({ createdAtMs }) => createdAtMs < border);
        const before = await own.events.sizes();
        expect(await own.events.prune(border + 1_000)).toBe(old.length);
        expect(await own.events.append(old)).toEqual({ added: 0, known: 0, tooOld: old.length });
        const byModel = { ...total, granularity: 'day' as const, dimensions: ['model' as const] };
        const answer = await own.events.query(byModel);
        expect(comparable(answer.rows)).toEqual(comparable(countEvents(kept, byModel)));
        expect(answer.missingBeforeMs).toBeNull();
        const detailed = { ...byModel, ...withinDays };
        const left = await own.events.query(detailed);
        expect(comparable(left.rows)).toEqual(
          comparable(
            countEvents(
              kept.filter(({ createdAtMs }) => createdAtMs >= border),
              detailed,
            ),
          ),
        );
        expect(left.missingBeforeMs).toBe(border);
        const after = await own.events.sizes();
        expect(after.events).toBe(before.events - old.length);
        expect(after.dailyRows).toBeGreaterThan(0);
        expect(after.bytes).toBeGreaterThan(0);
        expect(await own.events.prune(border)).toBe(0);
      });
    });
  });
}

const isOfTrace =
  (traceId: string) =>
  ({ log }: GenerationEvent): boolean =>
    log?.traceId === traceId;
