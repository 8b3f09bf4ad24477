import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, openInstallation } from '../../../src/app/installation.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { usdOf } from '../../../src/kit/money.ts';
import { type AnalyticsMetric, METRIC_DAYS } from '../../../src/manage/analytics/analytics-names.ts';
import type { DimensionName, Granularity, MetricName } from '../../../src/ports/events/event-names.ts';
import { METRICS } from '../../../src/ports/events/event-names.ts';
import type { EventQuery, EventRow, GenerationEvent } from '../../../src/ports/events/events.ts';
import { countEvents } from '../../adapters/contracts/count-events.ts';
import { eventHistory, HISTORY_START_MS } from '../../kit/builders/event-history.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';
import { SIMULATED_UPSTREAMS } from '../../kit/models.ts';

const DAY_MS = 86_400_000;
const DAYS = 45;
const EVENTS = 6_000;

/** The history ends with yesterday: activity shows the last days that are over. */
const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const START_MS = TODAY_MS - DAYS * DAY_MS;

const UNKNOWN_WORKSPACE = '00000000-0000-4000-8000-000000000000';
const DELETED_KEY = 'deadbeef'.repeat(8);

let gateway: TestGateway;
let ask: Management['ask'];
let management: Management;
let history: readonly GenerationEvent[];

/** What was made before the history. */
let made: {
  readonly accountId: string;
  readonly strangerId: string;
  readonly strangerKey: string;
  /** Ids by the names in the history. */
  readonly keys: Readonly<Record<string, string>>;
  readonly workspaces: Readonly<Record<string, string>>;
  readonly strangerWorkspace: string;
  /** What ids are shown as. */
  readonly shown: Readonly<Record<string, string>>;
};

async function prepareTenants(installation: Installation): Promise<typeof made> {
  const { accounts, keys, workspaces, tenancy, appRegistry } = installation;
  const { id: accountId } = await accounts.ensureFirst();
  const { id: strangerId } = await accounts.create('stranger');
  const { key: strangerManager, secret } = await keys.issue({
    name: 'manager',
    account: 'stranger',
    isManagement: true,
  });
  const { key: manager } = await keys.issue({ name: 'manager', isManagement: true });
  const team = await workspaces.create(manager, { name: 'Team', slug: 'team' });
  const lab = await workspaces.create(manager, { name: 'Lab', slug: 'lab' });
  const newKey = async (owner: string, name: string) =>
    (await keys.create(owner, { name })).statement.key.hash;
  // Two keys with one name; `key-6` was deleted.
  const ofAccount = {
    'key-0': await newKey(accountId, 'Robot'),
    'key-2': await newKey(accountId, 'Robot'),
    'key-4': await newKey(accountId, 'Batch'),
    'key-6': DELETED_KEY,
  };
  const ofStranger = {
    'key-1': await newKey(strangerId, 'Foreign'),
    'key-3': await newKey(strangerId, 'Foreign'),
    'key-5': await newKey(strangerId, 'Foreign'),
  };
  await appRegistry.note([
    { host: 'app-0.example', url: 'https://app-0.example/x', title: 'Zero', categories: [], atMs: 1 },
    { host: 'app-2.example', url: 'https://app-2.example/y', title: null, categories: [], atMs: 1 },
  ]);
  const ownDefault = await tenancy.defaultWorkspaceOf(accountId);
  return {
    accountId,
    strangerId,
    strangerKey: secret,
    keys: { ...ofAccount, ...ofStranger },
    workspaces: {
      'workspace-0': ownDefault?.id ?? '',
      'workspace-1': team.id,
      'workspace-2': lab.id,
    },
    strangerWorkspace: strangerManager.workspaceId,
    shown: {
      [ofAccount['key-0']]: 'Robot',
      [ofAccount['key-2']]: 'Robot',
      [ofAccount['key-4']]: 'Batch',
      [DELETED_KEY]: 'dea...beef',
      [ownDefault?.id ?? '']: 'Default Workspace',
      [team.id]: 'Team',
      [lab.id]: 'Lab',
      'app-0.example': 'Zero',
      'app-2.example': 'https://app-2.example',
    },
  };
}

/** The history as these tenants made it, up to the end of yesterday. */
function historyOf({ accountId, strangerId, keys, workspaces, strangerWorkspace }: typeof made) {
  return [...eventHistory(EVENTS, DAYS)].map((event): GenerationEvent => {
    const isOwn = event.accountId === 'account-0';
    return {
      ...event,
      createdAtMs: event.createdAtMs - HISTORY_START_MS + START_MS,
      accountId: isOwn ? accountId : strangerId,
      workspaceId: isOwn ? (workspaces[event.workspaceId] ?? '') : strangerWorkspace,
      keyHash: event.keyHash === null ? null : (keys[event.keyHash] ?? ''),
    };
  });
}

beforeAll(async () => {
  gateway = await openTestGateway(
    { ...SIMULATED_UPSTREAMS, limits: { analytics_per_minute: 100_000 } },
    {
      prepare: async (dataDir) => {
        const installation = await openInstallation({ dataDir, keyPrefix: 'sk-sb-v1-' });
        made = await prepareTenants(installation);
        history = historyOf(made);
        await installation.eventStore.append(history);
        await installation.close();
      },
    },
  );
  management = managementOf(gateway);
  ({ ask } = management);
});

afterAll(() => gateway.close());

const iso = (ms: number) => new Date(ms).toISOString();
const rangeOf = (startMs: number, endMs: number) => ({ start: iso(startMs), end: iso(endMs) });

/** All that 31 days allow, and no whole days. */
const MONTH = { startMs: TODAY_MS - 31 * DAY_MS + 1, endMs: TODAY_MS + 1 };

const METRIC_NAMES = Object.keys(METRIC_DAYS) as AnalyticsMetric[];
const wireName = (name: MetricName) => (name === 'own_usage' ? 'signalbox_usage' : name);

const question = (more: JsonObject = {}): JsonObject => ({
  metrics: METRIC_NAMES.map(wireName),
  time_range: rangeOf(MONTH.startMs, MONTH.endMs),
  limit: 10_000,
  ...more,
});

async function answered(body: JsonObject, key?: string): Promise<any> {
  const { status, body: reply } = await ask('POST', '/analytics/query', body, key);
  expect(reply.error).toBeUndefined();
  expect(status).toBe(200);
  expect(reply.data.metadata.row_count).toBe(reply.data.data.length);
  return reply.data;
}

const rowsOf = async (body: JsonObject, key?: string): Promise<any[]> => (await answered(body, key)).data;

interface Counting {
  readonly dimensions?: readonly DimensionName[];
  readonly granularity?: Granularity;
  readonly filters?: EventQuery['filters'];
  readonly metrics?: readonly MetricName[];
  readonly range?: { readonly startMs: number; readonly endMs: number };
  readonly accountId?: string;
}

/** The rows that the wire must have, counted in plain TypeScript. */
function counted({ dimensions = [], granularity, filters = [], range = MONTH, ...more }: Counting): any[] {
  const { metrics = METRIC_NAMES, accountId = made.accountId } = more;
  const rows = countEvents(history, {
    ...range,
    accountId,
    metrics,
    dimensions,
    granularity: granularity ?? null,
    filters,
    order: null,
    limit: 10_000,
    groupLimit: null,
  });
  return rows.map((row) => wireRow(row, dimensions, metrics, granularity));
}

function wireRow(
  { bucketMs, dimensions, metrics }: EventRow,
  names: readonly DimensionName[],
  asked: readonly MetricName[],
  granularity: Granularity | undefined,
): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  if (bucketMs !== null) row[`date__${granularity}`] = iso(bucketMs);
  names.forEach((name, index) => {
    const id = dimensions[index] ?? null;
    row[name] = id === null ? null : (made.shown[id] ?? id);
    if (name === 'user') row.user_email = null;
  });
  asked.forEach((name, index) => {
    const value = metrics[index] ?? null;
    const isMoney = METRICS[name].unit === 'money' && value !== null;
    row[wireName(name)] = isMoney ? usdOf(BigInt(value)) : typeof value === 'bigint' ? Number(value) : value;
  });
  return row;
}

/** Rows in one order, fractions to twelve digits: the order of adding says the rest. */
function comparable(rows: readonly Record<string, unknown>[]): string[] {
  return rows
    .map((row) =>
      JSON.stringify(row, (_, value) =>
        typeof value === 'number' && !Number.isInteger(value) ? value.toPrecision(12) : value,
      ),
    )
    .sort();
}

const eq = (field: string, value: string | number) => ({ filters: [{ field, operator: 'eq', value }] });

describe('POST /analytics/query', () => {
  it('sums up every metric', async () => {
    const [row, ...others] = await rowsOf(question());
    expect(comparable([row])).toEqual(comparable(counted({})));
    expect(others).toEqual([]);
    expect(Object.keys(row)).toEqual(METRIC_NAMES.map(wireName));
    expect(row.usage_data).toBeNull();
  });

  it.each<DimensionName>([
    'model',
    'variant',
    'api_key_id',
    'user',
    'workspace',
    'app',
    'generation_id',
    'provider',
    'origin',
    'country',
    'finish_reason',
    'external_user',
    'context_length_bucket',
  ])('sums up every metric by %s, with names', async (dimension) => {
    const rows = await rowsOf(question({ dimensions: [dimension] }));
    const expected = counted({ dimensions: [dimension] });
    expect(expected.length).toBeGreaterThan(1);
    expect(comparable(rows)).toEqual(comparable(expected));
  });

  it.each<Granularity>(['hour', 'day', 'week', 'month'])(
    'sums up every metric by %s',
    async (granularity) => {
      const rows = await rowsOf(question({ granularity }));
      expect(comparable(rows)).toEqual(comparable(counted({ granularity })));
      const dates = rows.map((row) => row[`date__${granularity}`]);
      expect(dates).toEqual([...dates].sort().reverse());
    },
  );

  it('sums up every metric by minute, for three hours', async () => {
    const range = { startMs: TODAY_MS - 3 * 3_600_000, endMs: TODAY_MS };
    const rows = await rowsOf(
      question({ granularity: 'minute', time_range: rangeOf(range.startMs, range.endMs) }),
    );
    expect(rows.length).toBeGreaterThan(1);
    expect(comparable(rows)).toEqual(comparable(counted({ granularity: 'minute', range })));
  });

  it('answers for whole days over the whole history, from sums of days', async () => {
    const range = { startMs: START_MS, endMs: TODAY_MS };
    const metrics = ['request_count', 'tokens_total', 'total_usage', 'cache_hit_rate'] as const;
    const rows = await rowsOf({
      metrics: [...metrics],
      dimensions: ['workspace', 'model'],
      granularity: 'day',
      time_range: rangeOf(range.startMs, range.endMs),
    });
    const expected = counted({ dimensions: ['workspace', 'model'], granularity: 'day', range, metrics });
    expect(expected.length).toBeGreaterThan(1000);
    expect(comparable(rows)).toEqual(comparable(expected));
  });

  it('keeps keys of one name apart', async () => {
    const rows = await rowsOf(question({ dimensions: ['api_key_id'] }));
    expect(rows.map((row) => row.api_key_id).sort()).toEqual(['Batch', 'Robot', 'Robot', 'dea...beef']);
  });

  it.each<[string, JsonObject, () => EventQuery['filters']]>([
    [
      'text',
      { filters: [{ field: 'external_user', operator: 'eq', value: `end'user "1"; --` }] },
      () => [{ field: 'external_user', operator: 'eq', values: [`end'user "1"; --`], includesUnset: false }],
    ],
    [
      'lists with what has no value',
      { filters: [{ field: 'country', operator: 'not_in', value: ['DE'], include_unset: true }] },
      () => [{ field: 'country', operator: 'not_in', values: ['DE'], includesUnset: true }],
    ],
    [
      'text in its order, and several at once',
      {
        filters: [
          { field: 'model', operator: 'gte', value: 'acme/model-3' },
          { field: 'model', operator: 'lt', value: 'acme/model-7' },
          { field: 'finish_reason', operator: 'neq', value: 'stop' },
        ],
      },
      () => [
        { field: 'model', operator: 'gte', values: ['acme/model-3'], includesUnset: false },
        { field: 'model', operator: 'lt', values: ['acme/model-7'], includesUnset: false },
        { field: 'finish_reason', operator: 'neq', values: ['stop'], includesUnset: false },
      ],
    ],
    [
      'lengths of prompts by size',
      { filters: [{ field: 'context_length_bucket', operator: 'gt', value: '10K' }] },
      () => [{ field: 'context_length_bucket', operator: 'in', values: ['100K'], includesUnset: false }],
    ],
  ])('filters by %s', async (_, more, filters) => {
    const rows = await rowsOf(question(more));
    expect(rows).toHaveLength(1);
    expect(comparable(rows)).toEqual(comparable(counted({ filters: filters() })));
  });

  it('filters by the hash of a key, a deleted one too, the UUID of a workspace and the id of an app', async () => {
    const passing = (field: DimensionName, value: string) =>
      comparable(counted({ filters: [{ field, operator: 'eq', values: [value], includesUnset: false }] }));
    const [key = '', workspace = ''] = [made.keys['key-2'], made.workspaces['workspace-1']];
    expect(comparable(await rowsOf(question(eq('api_key_id', key))))).toEqual(passing('api_key_id', key));
    expect(comparable(await rowsOf(question(eq('workspace', workspace))))).toEqual(
      passing('workspace', workspace),
    );
    for (const app of [1, '1', 'APP-0.example']) {
      expect(comparable(await rowsOf(question(eq('app', app))))).toEqual(passing('app', 'app-0.example'));
    }
    const { data, warnings } = await answered(question(eq('api_key_id', DELETED_KEY)));
    expect(comparable(data)).toEqual(passing('api_key_id', DELETED_KEY));
    expect(warnings).toHaveLength(1);
  });

  it('has no row if nothing matches, not even of zeros', async () => {
    expect(await answered(question(eq('model', 'nobody/nothing')))).toEqual({
      data: [],
      metadata: { query_time_ms: expect.any(Number), row_count: 0, truncated: false },
    });
    expect(await answered(question({ ...eq('app', 999), granularity: 'day' }))).toMatchObject({
      data: [],
      warnings: ['filters[0].value: there is no app with the id 999'],
    });
    expect(await answered(question(eq('api_key_id', 5)))).toMatchObject({
      data: [],
      warnings: [expect.stringContaining('keys here have no numbers')],
    });
  });

  it('orders rows as requested, and reports when it cut them', async () => {
    const ordered = (more: JsonObject) =>
      answered(question({ metrics: ['request_count', 'total_usage'], dimensions: ['model'], ...more }));
    const whole = await ordered({});
    expect(whole.metadata.truncated).toBe(false);
    const counts = whole.data.map((row: any) => row.request_count);
    expect(counts).toEqual([...counts].sort((one, other) => other - one));
    const { data, metadata } = await ordered({
      order_by: { field: 'total_usage', direction: 'asc' },
      limit: 3,
    });
    const costs = whole.data
      .map((row: any) => row.total_usage)
      .sort((one: number, other: number) => one - other);
    expect(data.map((row: any) => row.total_usage)).toEqual(costs.slice(0, 3));
    expect(metadata).toMatchObject({ row_count: 3, truncated: true });
    const byName = await ordered({
      dimensions: ['api_key_id'],
      order_by: { field: 'api_key_id', direction: 'desc' },
    });
    expect(byName.data.map((row: any) => row.api_key_id)).toEqual(['dea...beef', 'Robot', 'Robot', 'Batch']);
  });

  it('keeps all time buckets of its groups unless the query says otherwise', async () => {
    const daily = { metrics: ['request_count'], dimensions: ['model'], granularity: 'day' };
    const time_range = rangeOf(START_MS, TODAY_MS);
    const all = counted({
      dimensions: ['model'],
      granularity: 'day',
      range: { startMs: START_MS, endMs: TODAY_MS },
      metrics: ['request_count'],
    });
    const { data, metadata } = await answered({ ...daily, dimensions: ['model', 'user'], time_range });
    expect(data.length).toBeGreaterThan(1000);
    expect(metadata.truncated).toBe(false);
    const limited = await answered({ ...daily, time_range, group_limit: 2 });
    const models = new Set(all.map((row) => row.model));
    expect(limited.metadata).toMatchObject({ row_count: 2 * models.size, truncated: true });
    const explicit = await answered({ ...daily, time_range, limit: 5 });
    expect(explicit.metadata).toMatchObject({ row_count: 5, truncated: true });
    const without = await answered({
      metrics: ['request_count'],
      granularity: 'day',
      time_range,
      group_limit: 1,
    });
    expect(without.metadata).toMatchObject({ row_count: DAYS, truncated: false });
  });

  it('covers the last seven days by default', async () => {
    const [row] = await rowsOf({ metrics: ['tokens_prompt'], ...eq('variant', 'free') });
    const filters = [{ field: 'variant', operator: 'eq', values: ['free'], includesUnset: false }] as const;
    const within = (endMs: number) => {
      const range = { startMs: endMs - 7 * DAY_MS, endMs };
      return counted({ metrics: ['tokens_prompt'], range, filters })[0]?.tokens_prompt;
    };
    // The seven days end some time between before and now; no event of the history may have left in between.
    expect([within(Date.now()), within(Date.now() - 60_000)]).toContain(row.tokens_prompt);
  });
});

describe('accounts', () => {
  it('see their own usage alone', async () => {
    for (const [key, accountId] of [
      [gateway.managementKey, made.accountId],
      [made.strangerKey, made.strangerId],
    ] as const) {
      const rows = await rowsOf(question({ dimensions: ['generation_id'], metrics: ['request_count'] }), key);
      const expected = counted({ dimensions: ['generation_id'], metrics: ['request_count'], accountId });
      expect(rows.map((row) => row.generation_id).sort()).toEqual(
        expected.map((row) => row.generation_id).sort(),
      );
    }
  });

  it('learn nothing about keys of others: the answer is that for an unknown hash', async () => {
    const foreign = made.keys['key-1'] ?? '';
    const unknown = 'f'.repeat(64);
    const [one, other] = [
      await answered(question(eq('api_key_id', foreign))),
      await answered(question(eq('api_key_id', unknown))),
    ];
    expect([one.data, other.data]).toEqual([[], []]);
    expect(one.warnings.map((text: string) => text.replace(foreign, ''))).toEqual(
      other.warnings.map((text: string) => text.replace(unknown, '')),
    );
    const ofKey = (hash: string) => ask('GET', `/activity?api_key_hash=${hash}`);
    expect(await ofKey(foreign)).toEqual(await ofKey(unknown));
    expect((await ofKey(foreign)).status).toBe(404);
  });

  it('learn nothing about workspaces of others', async () => {
    const ofWorkspace = async (id: string) => {
      const { data, warnings } = await answered(question(eq('workspace', id)));
      return { data, warnings: warnings.map((text: string) => text.replace(id, '')) };
    };
    const nothing = await ofWorkspace(made.strangerWorkspace);
    expect(nothing).toEqual(await ofWorkspace(UNKNOWN_WORKSPACE));
    expect(nothing.data).toEqual([]);
    const activity = (id: string) => ask('GET', `/activity?workspace_id=${id}`);
    expect(await activity(made.strangerWorkspace)).toEqual(await activity(UNKNOWN_WORKSPACE));
    expect((await activity(UNKNOWN_WORKSPACE)).status).toBe(404);
  });
});

describe('an invalid query', () => {
  const range = (start: string, end: string) => ({ time_range: { start, end } });
  const days = (count: number) => ({ time_range: rangeOf(TODAY_MS - count * DAY_MS, TODAY_MS) });

  it.each<[string, JsonObject]>([
    ['metrics: must have at least 1 item', { metrics: [] }],
    ['metrics[0]: must be one of', { metrics: ['requests'] }],
    ['dimensions: must have at most 2 items', { dimensions: ['model', 'user', 'app'] }],
    ['dimensions[0]: must be one of', { dimensions: ['endpoint'] }],
    ['time_range: start must be before end', range('2026-03-01T00:00:00Z', '2026-02-01T00:00:00Z')],
    ['time_range.start: is no moment of the calendar', range('2026-02-31T00:00:00Z', '2026-03-31T00:00:00Z')],
    ['time_range: must not be longer than 365 days', days(366)],
    [
      'time_range: must not be longer than 31 days with p99_latency',
      { metrics: ['p99_latency'], ...days(32) },
    ],
    ['time_range: must not be longer than 3 hours with granularity', { granularity: 'minute', ...days(1) }],
    [
      'filters: must have at most 20 items',
      { filters: Array.from({ length: 21 }, () => ({ field: 'model', operator: 'eq', value: 'a' })) },
    ],
    [
      'filters[0].value: must be a list for in',
      { filters: [{ field: 'model', operator: 'in', value: 'a' }] },
    ],
    ['order_by.field: must be request_count, date, or a', { order_by: { field: 'user', direction: 'asc' } }],
    ['limit: must be <= 10000', { limit: 10_001 }],
    ['surprise: is not a known field', { surprise: 1 }],
    [
      'classifier_dimensions.classifier_id: Classifier not found',
      { classifier_dimensions: { classifier_id: UNKNOWN_WORKSPACE } },
    ],
  ])('is a 400: %s', async (message, more) => {
    const { status, body } = await ask('POST', '/analytics/query', { metrics: ['request_count'], ...more });
    expect([status, body.error.code]).toEqual([400, 400]);
    expect(body.error.message).toContain(message);
    expect(body.error.metadata.issues.length).toBeGreaterThan(0);
  });

  it('with too many problems lists some of every kind', async () => {
    for (const body of [
      { metrics: Array.from({ length: 20 }, () => 0), filters: 1 },
      { metrics: Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? [[]] : 'tokens_total')) },
      { metrics: ['request_count'], dimensions: Array.from({ length: 40 }, () => ({})), order_by: 7 },
    ]) {
      const { status, body: told } = await ask('POST', '/analytics/query', body as JsonObject);
      expect(status).toBe(400);
      expect(told.error.metadata.issues.length).toBeGreaterThan(0);
    }
  });

  it('gets a list of all its problems, of every kind', async () => {
    const { body } = await ask('POST', '/analytics/query', {
      metrics: ['nope'],
      more: 1,
      ...range('2026-11-02T00:00:00Z', '2026-11-01T00:00:00Z'),
      order_by: { field: 'zz', direction: 'asc' },
    });
    const paths = body.error.metadata.issues.map(({ path }: { path: string }) => path);
    expect(paths.sort()).toEqual(['metrics[0]', 'more', 'order_by.field', 'time_range']);
    const known = await ask('POST', '/analytics/query', {
      metrics: ['request_count'],
      dimensions: ['model', 'model2'],
      order_by: { field: 'model', direction: 'asc' },
    });
    expect(known.body.error.metadata.issues.map(({ path }: { path: string }) => path)).toEqual([
      'dimensions[1]',
    ]);
  });

  it('is a 401 without a key and a 403 with a plain one', async () => {
    for (const [method, path] of [
      ['POST', '/analytics/query'],
      ['GET', '/analytics/meta'],
      ['GET', '/activity'],
    ] as const) {
      const body = method === 'POST' ? { metrics: ['request_count'] } : undefined;
      expect((await ask(method, path, body, null)).status).toBe(401);
      const { status, body: refusal } = await ask(method, path, body, gateway.apiKey);
      expect([status, refusal.error.message]).toEqual([
        403,
        'Only management keys can perform this operation',
      ]);
    }
  });
});

describe('GET /analytics/meta', () => {
  it('lists the metrics and dimensions, and each can be queried', async () => {
    const { metrics, dimensions, operators, granularities } = await management.data(
      200,
      'GET',
      '/analytics/meta',
    );
    expect([metrics.length, dimensions.length, operators.length, granularities.length]).toEqual([
      35, 13, 8, 5,
    ]);
    expect(metrics[0]).toEqual({
      name: 'request_count',
      display_label: 'Request Count',
      is_rate: false,
      display_format: 'number',
    });
    expect(metrics.map(({ name }: any) => name)).toContain('signalbox_usage');
    const all = await answered({ metrics: metrics.map(({ name }: any) => name) });
    expect(all.metadata.row_count).toBe(1);
  });
});

describe('GET /activity', () => {
  const activity = async (query = ''): Promise<any[]> => {
    const { status, body } = await ask('GET', `/activity${query}`);
    expect([status, Object.keys(body)]).toEqual([200, ['data']]);
    return body.data;
  };

  const METRIC_OF = {
    usage: 'credits_usage',
    byok_usage_inference: 'byok_usage',
    requests: 'request_count',
    prompt_tokens: 'tokens_prompt',
    completion_tokens: 'tokens_completion',
    reasoning_tokens: 'reasoning_tokens',
  } as const satisfies Record<string, MetricName>;

  const expectedActivity = (
    range = { startMs: TODAY_MS - 30 * DAY_MS, endMs: TODAY_MS },
    filters: EventQuery['filters'] = [],
    isByWorkspace = false,
  ) =>
    countEvents(history, {
      ...range,
      accountId: made.accountId,
      metrics: Object.values(METRIC_OF),
      dimensions: [
        'model_id',
        'model',
        'endpoint',
        'provider',
        ...(isByWorkspace ? ['workspace' as const] : []),
      ],
      granularity: 'day',
      filters,
      order: null,
      limit: 1,
      groupLimit: null,
    }).map(({ bucketMs, dimensions, metrics }) => ({
      date: iso(bucketMs ?? 0).slice(0, 10),
      model: dimensions[0],
      model_permaslug: dimensions[1],
      endpoint_id: dimensions[2] ?? '',
      provider_name: dimensions[3] ?? '',
      ...Object.fromEntries(
        Object.keys(METRIC_OF).map((name, index) => [
          name,
          index < 2 ? usdOf(BigInt(metrics[index] ?? 0)) : Number(metrics[index]),
        ]),
      ),
      ...(isByWorkspace && { workspace_id: dimensions[4] }),
    }));

  it('shows the last 30 complete days, the latest first', async () => {
    const rows = await activity();
    expect(comparable(rows)).toEqual(comparable(expectedActivity()));
    const dates = rows.map(({ date }) => date);
    expect(dates).toEqual([...dates].sort().reverse());
    expect(new Set(dates).size).toBe(30);
  });

  it('shows one day, key, user and workspace, and rows for each workspace', async () => {
    const yesterday = { startMs: TODAY_MS - DAY_MS, endMs: TODAY_MS };
    const date = iso(yesterday.startMs).slice(0, 10);
    expect(comparable(await activity(`?date=${date}`))).toEqual(comparable(expectedActivity(yesterday)));
    const [key = '', workspace = ''] = [made.keys['key-0'], made.workspaces['workspace-2']];
    for (const [query, field, value] of [
      [`?api_key_hash=${key}`, 'api_key_id', key],
      [`?workspace_id=${workspace}`, 'workspace', workspace],
      ['?user_id=user-2', 'user', 'user-2'],
    ] as const) {
      const expected = expectedActivity(undefined, [
        { field, operator: 'eq', values: [value], includesUnset: false },
      ]);
      expect(expected.length).toBeGreaterThan(0);
      expect(comparable(await activity(query))).toEqual(comparable(expected));
    }
    expect(comparable(await activity('?group_by=workspace'))).toEqual(
      comparable(expectedActivity(undefined, [], true)),
    );
    expect(await activity('?user_id=nobody')).toEqual([]);
  });

  it.each([
    [
      `?date=${iso(TODAY_MS + DAY_MS).slice(0, 10)}`,
      'date: must be one of the last 30 UTC days that are over:',
    ],
    ['?date=2026-02-30', 'date: must be one of the last 30 UTC days'],
    ['?date=yesterday', 'date: must be a day such as'],
    ['?api_key_hash=abc', 'api_key_hash: must be the hash of a key'],
    ['?workspace_id=abc', 'workspace_id: must be a UUID'],
    ['?group_by=model', 'group_by: must be "workspace"'],
    ['?date=2026-01-01&date=2026-01-02', 'date: is given more than once'],
  ])('refuses %s', async (query, message) => {
    const { status, body } = await ask('GET', `/activity${query}`);
    expect(status).toBe(400);
    expect(body.error.message).toContain(message);
  });
});

describe('usage of a request', () => {
  it('is in analytics within 15 seconds', async () => {
    const response = await gateway.post(
      '/chat/completions',
      { model: 'chat/standard', messages: [{ role: 'user', content: 'Hi' }], user: 'someone' },
      { 'HTTP-Referer': 'https://shop.example/cart', 'X-Title': 'Shop' },
    );
    const { usage } = (await response.json()) as any;
    const id = response.headers.get('x-generation-id') ?? '';
    const deadline = Date.now() + 15_000;
    let rows: any[] = [];
    while (rows.length === 0 && Date.now() < deadline) {
      await delay(50);
      rows = await rowsOf({
        metrics: ['request_count', 'tokens_prompt', 'tokens_completion', 'total_usage'],
        dimensions: ['api_key_id', 'app'],
        ...eq('generation_id', id),
      });
    }
    expect(rows).toEqual([
      {
        api_key_id: 'SIGNALBOX_API_KEY',
        app: 'Shop',
        request_count: 1,
        tokens_prompt: usage.prompt_tokens,
        tokens_completion: usage.completion_tokens,
        total_usage: usage.cost,
      },
    ]);
  });
});

describe('the limit of queries', () => {
  it('allows 64 in a minute, of any kind, and then answers with Retry-After', async () => {
    const limited = await openTestGateway();
    try {
      const { ask: askLimited } = managementOf(limited);
      for (let index = 0; index < 32; index++) {
        expect((await askLimited('GET', '/analytics/meta')).status).toBe(200);
        expect((await askLimited('POST', '/analytics/query', { metrics: ['request_count'] })).status).toBe(
          200,
        );
      }
      const response = await limited.fetch('/activity', { key: limited.managementKey });
      const { error } = (await response.json()) as any;
      expect(response.status).toBe(429);
      expect(error.message).toContain(
        'Rate limit exceeded: analytics-per-minute. At most 64 requests a minute',
      );
      expect(response.headers.get('x-ratelimit-limit')).toBe('64');
      expect(response.headers.get('x-ratelimit-remaining')).toBe('0');
      const resetInMs = Number(response.headers.get('x-ratelimit-reset')) - Date.now();
      expect(resetInMs).toBeGreaterThan(0);
      expect(resetInMs).toBeLessThanOrEqual(60_000);
      expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(error.metadata.headers['X-RateLimit-Limit']).toBe('64');
      // Other routes and other keys are not counted.
      expect((await askLimited('GET', '/credits')).status).toBe(200);
    } finally {
      await limited.close();
    }
  });
});
