import { describe, expect, it } from 'vitest';
import { classifierOf } from '../../../test/kit/builders/classifiers.ts';
import { keyOf, workspaceOf } from '../../../test/kit/builders/tenancy.ts';
import type { AnalyticsQuery } from '../../contract/analytics/analytics.ts';
import type { App } from '../../ports/events/apps.ts';
import type { EventAnswer, EventQuery, EventRow } from '../../ports/events/events.ts';
import { Analytics, type AnalyticsDependencies } from './analytics.ts';

const KEY = 'a'.repeat(64);
const TWIN = 'b'.repeat(64);
const GONE = 'c0ffee'.padEnd(64, '0');
const WORKSPACE = '00000000-0000-4000-8000-000000000001';

const APPS: readonly App[] = [
  { id: 1, host: 'one.example', url: 'https://one.example/page', title: 'One', categories: [] },
  { id: 2, host: 'two.example:8443', url: 'https://two.example:8443/x?y', title: null, categories: [] },
];

/** Analytics over events that answer with these rows, and what they were asked. */
function analyticsWith(rows: readonly EventRow[], more: Partial<EventAnswer> = {}, isRefilling = false) {
  const asked: EventQuery[] = [];
  const lookedUp: (readonly number[])[] = [];
  const dependencies: AnalyticsDependencies = {
    events: {
      isRefilling,
      query: async (query) => {
        asked.push(query);
        return { rows, totalRows: rows.length, isTruncated: false, missingBeforeMs: null, ...more };
      },
    },
    tenancy: {
      listKeys: async (accountId) =>
        [keyOf({ hash: KEY, name: 'Team' }), keyOf({ hash: TWIN, name: '', label: 'sk-...0002' })].filter(
          (key) => key.accountId === accountId,
        ),
      listWorkspaces: async (accountId) => {
        const workspaces = [workspaceOf({ id: WORKSPACE, name: 'Main', accountId: 'account' })];
        const own = workspaces.filter((workspace) => workspace.accountId === accountId);
        return { workspaces: own, total: own.length };
      },
    },
    apps: {
      ofIds: async (ids) => {
        lookedUp.push(ids);
        return APPS.filter(({ id }) => ids.includes(id));
      },
      ofHosts: async (hosts) => APPS.filter(({ host }) => hosts.includes(host)),
    },
    classifiers: {
      find: async (accountId, id) =>
        [classifierOf()].find((known) => known.id === id && known.accountId === accountId),
      list: async () => ({ classifiers: [], total: 0 }),
    },
    clock: { now: () => Date.parse('2026-06-10T00:00:00Z'), monotonic: () => performance.now() },
  };
  const ask = (wanted: Partial<AnalyticsQuery>, accountId = 'account') =>
    new Analytics(dependencies).query({ metrics: ['request_count'], ...wanted } as AnalyticsQuery, {
      accountId,
      vendor: 'acme',
      signal: new AbortController().signal,
    });
  return { ask, asked, lookedUp };
}

const row = (dimensions: EventRow['dimensions'], metrics: EventRow['metrics'] = [1n]): EventRow => ({
  bucketMs: null,
  dimensions,
  metrics,
});

const eq = (field: string, value: string | number) => ({ filters: [{ field, operator: 'eq', value }] });

describe('an answer', () => {
  it('has names instead of ids', async () => {
    const column = async (dimension: string, ids: readonly (string | null)[]) => {
      const { ask } = analyticsWith(ids.map((id) => row([id])));
      return (await ask({ dimensions: [dimension] })).data.map((one) => one[dimension]);
    };
    expect(await column('api_key_id', [KEY, TWIN, GONE, null])).toEqual([
      'Team',
      'sk-...0002',
      'c0f...0000',
      null,
    ]);
    expect(await column('workspace', [WORKSPACE, 'gone'])).toEqual(['Main', 'gone']);
    expect(await column('app', ['one.example', 'two.example:8443', 'three.example', null])).toEqual([
      'One',
      'https://two.example:8443',
      'three.example',
      null,
    ]);
  });

  it('names nothing of another account', async () => {
    const { ask } = analyticsWith([row([KEY])]);
    expect((await ask({ dimensions: ['api_key_id'] }, 'stranger')).data[0]?.api_key_id).toBe('aaa...aaaa');
  });

  it('has two columns for a user', async () => {
    const { ask } = analyticsWith([row(['u-1']), row([null])]);
    expect((await ask({ dimensions: ['user'] })).data).toEqual([
      { user: 'u-1', user_email: null, request_count: 1 },
      { user: null, user_email: null, request_count: 1 },
    ]);
  });

  it('has the tags behind names, under the names of their dimensions', async () => {
    const { ask, asked } = analyticsWith([row([WORKSPACE, 'billing', null])]);
    const classifier_dimensions = { classifier_id: classifierOf().id, dimension_names: ['topic', 'mood'] };
    expect((await ask({ dimensions: ['workspace'], classifier_dimensions })).data).toEqual([
      { workspace: 'Main', topic: 'billing', mood: null, request_count: 1 },
    ]);
    expect(asked[0]?.tags?.grouping).toEqual({ names: ['topic', 'mood'], includesUntagged: false });
    await expect(ask({ classifier_dimensions }, 'stranger')).rejects.toMatchObject({
      status: 400,
      message: 'classifier_dimensions.classifier_id: Classifier not found',
    });
  });

  it('has exact numbers: USD for money, strings for counts that no JSON number holds', async () => {
    const metrics = [
      'tokens_total',
      'tokens_prompt',
      'acme_usage',
      'usage_cache',
      'usage_data',
      'avg_latency',
    ];
    const sums = [2n ** 53n, 2n ** 53n - 1n, 1_000_000_001n, -5n, null, 12.5];
    const { ask } = analyticsWith([{ bucketMs: Date.UTC(2026, 0, 5), dimensions: [], metrics: sums }]);
    const { data } = await ask({ metrics, granularity: 'week' });
    expect(data).toEqual([
      {
        date__week: '2026-01-05T00:00:00.000Z',
        tokens_total: '9007199254740992',
        tokens_prompt: 9007199254740991,
        acme_usage: 1.000000001,
        usage_cache: -0.000000005,
        usage_data: null,
        avg_latency: 12.5,
      },
    ]);
    expect(Object.keys(data[0] ?? {})).toEqual(['date__week', ...metrics]);
  });

  it('says how many rows it has, and no more than it must', async () => {
    const { ask } = analyticsWith([]);
    const answer = await ask({});
    expect(answer).toEqual({
      data: [],
      metadata: { query_time_ms: expect.any(Number), row_count: 0, truncated: false },
    });
    expect(Number.isInteger(answer.metadata.query_time_ms)).toBe(true);
  });

  it('says what limits and pruning took', async () => {
    const missingBeforeMs = Date.UTC(2026, 5, 5);
    const { ask } = analyticsWith([row([])], { isTruncated: true, missingBeforeMs });
    const { metadata, warnings } = await ask({});
    expect(metadata.truncated).toBe(true);
    expect(warnings).toEqual([expect.stringContaining('is kept from 2026-06-05T00:00:00.000Z on')]);
  });

  it('is ordered by name on request, and cut afterwards', async () => {
    const rows = [row([null]), row(['gone']), row(['one.example']), row(['two.example:8443'])];
    const { ask, asked } = analyticsWith(rows);
    const inOrder = async (direction: 'asc' | 'desc', limit: number) => {
      const order = { dimensions: ['app'], order_by: { field: 'app', direction }, limit };
      const { data, metadata } = await ask(order);
      expect(metadata).toMatchObject({ row_count: data.length, truncated: data.length < rows.length });
      return data.map(({ app }) => app);
    };
    expect(await inOrder('asc', 9)).toEqual(['One', 'gone', 'https://two.example:8443', null]);
    expect(await inOrder('desc', 2)).toEqual(['https://two.example:8443', 'gone']);
    expect(asked[0]?.limit).toBe(10_000);
  });
});

describe('a filter', () => {
  const filtered = async (more: Partial<AnalyticsQuery>) => {
    const { ask, asked } = analyticsWith([]);
    const { warnings } = await ask(more);
    return { filters: asked[0]?.filters.map(({ operator, values }) => [operator, ...values]), warnings };
  };

  it('finds a key by its hash and an app by its id, its id as text or its host', async () => {
    expect(await filtered(eq('api_key_id', KEY.toUpperCase()))).toEqual({ filters: [['in', KEY]] });
    for (const value of [1, '1', 'ONE.example']) {
      expect(await filtered(eq('app', value))).toEqual({ filters: [['in', 'one.example']] });
    }
    expect(await filtered(eq('workspace', WORKSPACE.toUpperCase()))).toEqual({
      filters: [['in', WORKSPACE]],
    });
  });

  it('warns of a key that the account does not have, and can still find usage of a deleted one', async () => {
    const { filters, warnings } = await filtered(eq('api_key_id', GONE));
    expect(filters).toEqual([['in', GONE]]);
    expect(warnings).toEqual([
      `filters[0].value: the account has no key with the hash ${GONE}; only usage of a deleted key can match`,
    ]);
  });

  it('warns of unknown numbers, which match nothing', async () => {
    expect(await filtered(eq('api_key_id', 12))).toEqual({
      filters: [['in']],
      warnings: [expect.stringContaining('filters[0].value: keys here have no numbers: 12 matches no key')],
    });
    expect(await filtered(eq('app', 77))).toEqual({
      filters: [['in']],
      warnings: ['filters[0].value: there is no app with the id 77'],
    });
    const others = { filters: [{ field: 'app', operator: 'not_in', value: [1, 77] }] };
    expect((await filtered(others)).filters).toEqual([['not_in', 'one.example']]);
  });

  it('looks the ids of apps up together', async () => {
    const { ask, asked, lookedUp } = analyticsWith([]);
    await ask({ filters: [{ field: 'app', operator: 'in', value: [2, 'Host.example', '1', 2] }] });
    expect(lookedUp).toEqual([[2, 1, 2]]);
    const values = ['two.example:8443', 'host.example', 'one.example', 'two.example:8443'];
    expect(asked[0]?.filters[0]?.values).toEqual(values);
  });

  it('limits the number of warnings', async () => {
    const value = Array.from({ length: 30 }, (_, index) => index + 100);
    const { warnings } = await filtered({ filters: [{ field: 'app', operator: 'in', value }] });
    expect(warnings).toHaveLength(21);
    expect(warnings?.at(-1)).toBe('filters: 10 more values are unknown too');
  });

  it('on a workspace that the account does not have is asked of its own usage alone, with a warning', async () => {
    const { ask, asked } = analyticsWith([]);
    const { warnings } = await ask(eq('workspace', WORKSPACE), 'stranger');
    expect(warnings).toEqual([
      `filters[0].value: the account has no workspace ${WORKSPACE}; only usage of a deleted workspace can match`,
    ]);
    expect(asked).toMatchObject([{ accountId: 'stranger', filters: [{ values: [WORKSPACE] }] }]);
  });
});
