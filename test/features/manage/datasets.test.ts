import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { appRankingsReplySchema } from '../../../src/contract/analytics/dataset-app-rankings.ts';
import { rankingsDailyReplySchema } from '../../../src/contract/analytics/dataset-rankings-daily.ts';
import { APP_CATEGORIES } from '../../../src/ir/apps/app-categories.ts';
import type { AppSighting } from '../../../src/ports/events/apps.ts';
import { modalitiesText } from '../../../src/ports/events/event-names.ts';
import type { GenerationEvent } from '../../../src/ports/events/events.ts';
import { DuckdbEventStore } from '../../../src/store/events/duckdb/event-store.ts';
import { openSqlite } from '../../../src/store/sql/sqlite/open-sqlite.ts';
import { SqlAppRegistry } from '../../../src/store/sql/stores/sql-app-registry.ts';
import { eventHistory } from '../../kit/builders/event-history.ts';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2025, 5, 1);
const DAYS = 60;
const APPS = 130;
const MODELS = 60;

const hostOf = (app: number) => `app-${app}.example`;
const categoryOf = (app: number) => Object.values(APP_CATEGORIES).flat()[app % 17];

/** Whole numbers that are the same in every run. */
function numbers(): (limit: number) => number {
  let state = 1;
  return (limit) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const below = numbers();

/** What is in the store: small numbers, so that apps and models are often equal. */
const history: GenerationEvent[] = [...eventHistory(6_000, DAYS)].map((event, index) => {
  const app = below(APPS);
  const model = below(MODELS);
  const isUnused = app === 4 || model === 7;
  return {
    ...event,
    id: `gen-${index}`,
    createdAtMs: FIRST_DAY + below(DAYS) * DAY_MS + below(DAY_MS),
    accountId: `account-${below(2)}`,
    app: below(11) === 0 ? null : hostOf(app),
    model: `acme/model-${model}`,
    isZdr: app === 3 || below(13) === 0,
    promptTokens: isUnused ? 0 : below(5),
    completionTokens: isUnused ? 0 : below(3),
    modalities: modalitiesText({ image: below(10) === 0, tool_calling: below(4) === 0 }),
    contextLengthBucket: below(3) === 0 ? '10K' : '1K',
  };
});

/** Those that count in public, by app. */
const publicEvents = new Map<string | null, GenerationEvent[]>();
for (const event of history) {
  if (!event.isZdr) publicEvents.set(event.app, [...(publicEvents.get(event.app) ?? []), event]);
}

const HIDDEN = [5, 6];

const CONFIG = {
  limits: { datasets: { per_minute: 10_000, per_day: 10_000 } },
  apps: { hidden: ['App-5.example', 'app-6.example:443'] },
};

async function fill(dataDir: string): Promise<void> {
  const events = new DuckdbEventStore(join(dataDir, 'events.duckdb'));
  await events.append(history);
  await events.close();
  const database = await openSqlite(join(dataDir, 'signalbox.sqlite'), 1);
  await new SqlAppRegistry(database).note(Array.from({ length: APPS }, (_, app) => sightingOf(app)));
  await database.destroy();
}

function sightingOf(app: number): AppSighting {
  const category = categoryOf(app);
  return {
    host: hostOf(app),
    url: `https://${hostOf(app)}/`,
    title: app % 3 === 0 ? `App ${app}` : null,
    categories: category === undefined ? [] : [category],
    atMs: FIRST_DAY,
  };
}

let gateway: TestGateway;
let get: (path: string, key?: string) => Promise<{ status: number; headers: Headers; body: any }>;

beforeAll(async () => {
  gateway = await openTestGateway(CONFIG, { prepare: fill });
  get = async (path, key = gateway.apiKey) => {
    const response = await gateway.fetch(`/datasets/${path}`, { key });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
});

afterAll(() => gateway.close());

const day = (text: string) => Date.parse(`${text}T00:00:00Z`);

const tokensOf = (events: readonly GenerationEvent[]) =>
  events.reduce((sum, { promptTokens, completionTokens }) => sum + promptTokens + completionTokens, 0);

/** The rankings, worked out from the plain list. */
function expectedApps(start: string, end: string, sort: string, categories?: readonly string[]) {
  const [from, to] = [day(start), day(end) + DAY_MS];
  const length = to - from;
  return Array.from({ length: APPS }, (_, app) => {
    const within = (windowsBack: number) =>
      (publicEvents.get(hostOf(app)) ?? []).filter(
        ({ createdAtMs }) =>
          createdAtMs >= from - windowsBack * length && createdAtMs < to - windowsBack * length,
      );
    const tokens = tokensOf(within(0));
    const before = tokensOf([1, 2, 3].flatMap(within));
    const score = sort === 'popular' ? tokens : tokens - before / 3;
    return { app, requests: within(0).length, tokens, score };
  })
    .filter(({ app }) => !HIDDEN.includes(app))
    .filter(({ app }) => categories === undefined || categories.includes(categoryOf(app) ?? ''))
    .filter(({ score }) => score > 1e-9)
    .sort((one, other) =>
      Math.abs(other.score - one.score) > 1e-9 ? other.score - one.score : one.app - other.app,
    )
    .map(({ app, requests, tokens }, index) => ({
      app_id: app + 1,
      app_name: app % 3 === 0 ? `App ${app}` : hostOf(app),
      rank: index + 1,
      total_requests: requests,
      total_tokens: String(tokens),
    }));
}

describe('GET /datasets/app-rankings', () => {
  it.each([
    ['2025-06-20', '2025-07-05', 'popular'],
    ['2025-06-20', '2025-06-20', 'popular'],
    ['2025-06-30', '2025-07-05', 'trending'],
    ['2025-06-01', '2025-06-03', 'trending'],
    ['2025-07-25', '2025-07-28', 'trending'],
  ])('ranks %s to %s, %s', async (start, end, sort) => {
    const { status, body } = await get(
      `app-rankings?start_date=${start}&end_date=${end}&sort=${sort}&limit=100`,
    );
    expect(status).toBe(200);
    expect(Compile(appRankingsReplySchema).Check(body)).toBe(true);
    const expected = expectedApps(start, end, sort);
    expect(expected.length).toBeGreaterThan(20);
    expect(body.data).toEqual(expected.slice(0, 100));
    expect(body.meta).toEqual({
      as_of: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      start_date: start,
      end_date: end,
      version: 'v1',
    });
  });

  it('pages with absolute ranks', async () => {
    const expected = expectedApps('2025-06-20', '2025-07-05', 'popular');
    const page = async (query: string) =>
      (await get(`app-rankings?start_date=2025-06-20&end_date=2025-07-05${query}`)).body.data;
    expect(await page('')).toEqual(expected.slice(0, 50));
    expect(await page('&limit=7&offset=50')).toEqual(expected.slice(50, 57));
    expect((await page('&offset=50'))[0].rank).toBe(51);
    expect(await page('&offset=100&limit=100')).toEqual(expected.slice(100));
    for (const nothing of ['', 'null'])
      expect(await page(`&limit=1&offset=${nothing}`)).toEqual(expected.slice(0, 1));
  });

  it('leaves out hidden apps and those without tokens or public usage', async () => {
    const [{ body: first }, { body: second }] = (await Promise.all(
      [0, 100].map((offset) =>
        get(`app-rankings?start_date=2025-06-01&end_date=2025-07-30&limit=100&offset=${offset}`),
      ),
    )) as [any, any];
    const all = [...first.data, ...second.data];
    expect(all).toEqual(expectedApps('2025-06-01', '2025-07-30', 'popular'));
    const ids = all.map(({ app_id }) => app_id - 1);
    for (const app of [...HIDDEN, 3, 4]) expect(ids).not.toContain(app);
  });

  it('filters by category and subcategory, and numbers what is left from 1', async () => {
    const window = 'start_date=2025-06-20&end_date=2025-07-05';
    for (const [category, subcategories] of Object.entries(APP_CATEGORIES)) {
      const expected = expectedApps('2025-06-20', '2025-07-05', 'popular', subcategories);
      expect((await get(`app-rankings?${window}&category=${category}`)).body.data).toEqual(expected);
      const [subcategory] = subcategories;
      expect(
        (await get(`app-rankings?${window}&category=${category}&subcategory=${subcategory}`)).body.data,
      ).toEqual(expectedApps('2025-06-20', '2025-07-05', 'popular', [subcategory]));
    }
    expect((await get(`app-rankings?${window}&subcategory=game`)).body.data[0].rank).toBe(1);
  });

  it('clamps the start, takes future ends, and is empty without usage', async () => {
    const { body } = await get('app-rankings?start_date=2024-06-01&end_date=2025-06-01&limit=100');
    expect(body.meta).toMatchObject({ start_date: '2025-01-01', end_date: '2025-06-01' });
    expect(body.data).toEqual(expectedApps('2025-01-01', '2025-06-01', 'popular').slice(0, 100));
    const empty = await get('app-rankings?start_date=2099-01-01&end_date=2099-01-02');
    expect(empty.body).toMatchObject({
      data: [],
      meta: { start_date: '2099-01-01', end_date: '2099-01-02' },
    });
  });

  it('shows the last 31 complete days by default', async () => {
    const { body } = await get('app-rankings');
    const today = Date.parse(body.meta.as_of) - (Date.parse(body.meta.as_of) % DAY_MS);
    expect(day(body.meta.end_date)).toBe(today - DAY_MS);
    expect(day(body.meta.start_date)).toBe(today - 31 * DAY_MS);
  });

  it.each([
    ['start_date=2026-02-30&end_date=2026-03-05', /^start_date: .*calendar/],
    ['end_date=2026-02-31', /^end_date: .*calendar/],
    ['end_date=2026-2-3', /^end_date: must be a day/],
    ['start_date=yesterday', /^start_date: must be a day/],
    ['end_date=2024-12-31', /^end_date: .*2025-01-01/],
    ['start_date=2025-06-02&end_date=2025-06-01', /^start_date: .*end_date/],
    ['start_date=2025-01-01&end_date=2026-01-02', /^start_date: .*366 days/],
    ['category=creative&subcategory=cli-agent', /^subcategory: cli-agent .*creative/],
    ['category=all', /^category/],
    ['subcategory=coding', /^subcategory/],
    ['sort=best', /^sort/],
    ['limit=0', /^limit: .*1/],
    ['limit=101', /^limit: .*100/],
    ['limit=1.5', /^limit/],
    ['offset=101', /^offset: .*100/],
    ['offset=-1', /^offset: .*0/],
    ['limit=5&limit=6', /^limit: is given more than once/],
  ])('refuses %s', async (query, message) => {
    const { status, body } = await get(`app-rankings?${query}`);
    expect(status).toBe(400);
    expect(body.error.code).toBe(400);
    expect(body.error.message).toMatch(message);
  });

  it('needs a key, of any kind and any account', async () => {
    expect((await gateway.fetch('/datasets/app-rankings', { key: null })).status).toBe(401);
    const management = managementOf(gateway);
    const { management_key: stranger } = await management.command('accounts.create', { name: 'stranger' });
    const path = 'app-rankings?start_date=2025-06-20&end_date=2025-07-05';
    const { data } = (await get(path)).body;
    for (const key of [gateway.managementKey, stranger])
      expect((await get(path, key)).body.data).toEqual(data);
  });
});

describe('GET /datasets/rankings-daily', () => {
  /** The rankings, worked out from the plain list. */
  const expected = (
    start: string,
    end: string,
    bucketOf: (ms: number) => number,
    filter = (_: GenerationEvent) => true,
  ) => {
    const events = history.filter(
      (event) =>
        !event.isZdr &&
        event.createdAtMs >= day(start) &&
        event.createdAtMs < day(end) + DAY_MS &&
        filter(event),
    );
    const buckets = [...new Set(events.map(({ createdAtMs }) => bucketOf(createdAtMs)))].sort(
      (one, other) => one - other,
    );
    return buckets.flatMap((bucket) => {
      const date = new Date(bucket).toISOString().slice(0, 10);
      const ofBucket = events.filter(({ createdAtMs }) => bucketOf(createdAtMs) === bucket);
      const models = Array.from({ length: MODELS }, (_, model) => `acme/model-${model}`)
        .map((slug) => ({
          date,
          model_permaslug: slug,
          tokens: tokensOf(ofBucket.filter(({ model }) => model === slug)),
        }))
        .filter(({ tokens }) => tokens > 0)
        .sort(
          (one, other) => other.tokens - one.tokens || (one.model_permaslug < other.model_permaslug ? -1 : 1),
        );
      const rest = models.slice(50).reduce((sum, { tokens }) => sum + tokens, 0);
      const rows = [
        ...models.slice(0, 50),
        ...(rest > 0 ? [{ date, model_permaslug: 'other', tokens: rest }] : []),
      ];
      return rows.map(({ tokens, ...row }) => ({ ...row, total_tokens: String(tokens) }));
    });
  };
  const dayOf = (ms: number) => ms - (ms % DAY_MS);
  const weekOf = (ms: number) => dayOf(ms) - ((new Date(ms).getUTCDay() + 6) % 7) * DAY_MS;
  const monthOf = (ms: number) => Date.UTC(new Date(ms).getUTCFullYear(), new Date(ms).getUTCMonth());
  const WINDOW = 'start_date=2025-06-05&end_date=2025-07-20';

  it.each([
    ['', dayOf],
    ['&period=day', dayOf],
    ['&period=week', weekOf],
    ['&period=month', monthOf],
  ])('sums up models%s', async (query, bucketOf) => {
    const { status, body } = await get(`rankings-daily?${WINDOW}${query}`);
    expect(status).toBe(200);
    expect(Compile(rankingsDailyReplySchema).Check(body)).toBe(true);
    expect(body.data).toEqual(expected('2025-06-05', '2025-07-20', bucketOf));
    expect(body.meta).toMatchObject({ start_date: '2025-06-05', end_date: '2025-07-20', version: 'v1' });
    expect(body.meta.warnings).toBeUndefined();
  });

  it('has a row for the rest, and none for what was not used', async () => {
    const { data } = (await get(`rankings-daily?${WINDOW}&period=month`)).body;
    const june = data.filter(({ date }: { date: string }) => date === '2025-06-01');
    expect(june).toHaveLength(51);
    expect(june.at(-1).model_permaslug).toBe('other');
    expect(data.some(({ model_permaslug }: any) => model_permaslug === 'acme/model-7')).toBe(false);
  });

  it.each<[string, (event: GenerationEvent) => boolean]>([
    ['modality=text', ({ modalities }) => !modalities.includes('image')],
    ['modality=image', ({ modalities }) => modalities.split('+').includes('image')],
    ['modality=tool_calling', ({ modalities }) => modalities.split('+').includes('tool_calling')],
    ['modality=image_output', () => false],
    ['context_bucket=10K', ({ contextLengthBucket }) => contextLengthBucket === '10K'],
    [
      'context_bucket=1K&modality=image',
      ({ contextLengthBucket, modalities }) => contextLengthBucket === '1K' && modalities.includes('image'),
    ],
  ])('filters by %s', async (query, filter) => {
    const { body } = await get(`rankings-daily?${WINDOW}&period=week&${query}`);
    expect(body.data).toEqual(expected('2025-06-05', '2025-07-20', weekOf, filter));
  });

  it.each(['category=marketing/seo', 'language_type=programming'])(
    'says why %s finds nothing',
    async (query) => {
      const { status, body } = await get(`rankings-daily?${WINDOW}&period=week&${query}`);
      expect(status).toBe(200);
      expect(body.data).toEqual([]);
      expect(body.meta.warnings).toEqual([expect.stringContaining('classifies none')]);
    },
  );

  it.each([
    ['period=year', /^period/],
    ['modality=video', /^modality/],
    ['context_bucket=2K', /^context_bucket/],
    ['category=game&period=week', /^category/],
    ['language_type=latin&period=week', /^language_type/],
    ['category=legal', /^period: must be week or month/],
    ['category=legal&period=day', /^period: must be week or month/],
    ['language_type=natural', /^period: must be week or month/],
    ['category=legal&language_type=natural&period=week', /^language_type: .*category/],
    ['category=legal&modality=text&period=week', /^modality: .*category/],
    ['language_type=natural&context_bucket=1K&period=week', /^context_bucket: .*language_type/],
    ['start_date=2026-02-30', /^start_date: .*calendar/],
    ['end_date=2024-12-31', /^end_date: .*2025-01-01/],
    ['start_date=2025-01-01&end_date=2026-01-02', /366 days/],
  ])('refuses %s', async (query, message) => {
    const { status, body } = await get(`rankings-daily?${query}`);
    expect(status).toBe(400);
    expect(body.error.message).toMatch(message);
  });
});

describe('limits', () => {
  const path = '/datasets/app-rankings?limit=1';

  it('refuses the 31st request of a minute, with Retry-After', async () => {
    const limited = await openTestGateway();
    // Not at the end of a minute, in which a new one could begin.
    const left = 60_000 - (Date.now() % 60_000);
    if (left < 2_000) await delay(left);
    const paths = Array.from({ length: 30 }, (_, index) =>
      index % 2 === 0 ? path : '/datasets/rankings-daily',
    );
    const replies = await Promise.all(paths.map((some) => limited.fetch(some)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(replies[0]?.headers.get('x-ratelimit-limit')).toBeNull();
    const refused = await limited.fetch(path);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('x-ratelimit-limit')).toBe('30');
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(Number(refused.headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now());
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(((await refused.json()) as any).error.message).toMatch(/datasets-per-minute/);
    expect((await limited.fetch(path, { key: limited.managementKey })).status).toBe(200);
    await limited.close();
  });

  it('counts a day by account, for all its keys', async () => {
    const limited = await openTestGateway({ limits: { datasets: { per_minute: 100, per_day: 3 } } });
    const { management_key: stranger } = await managementOf(limited).command('accounts.create', {
      name: 's',
    });
    const statuses: number[] = [];
    for (const key of [
      limited.apiKey,
      limited.managementKey,
      limited.apiKey,
      limited.managementKey,
      stranger,
    ]) {
      statuses.push((await limited.fetch(path, { key })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 200]);
    await limited.close();
  });
});

describe('traffic', () => {
  let upstream: FakeUpstream;
  let busy: TestGateway;
  const config = () => ({
    providers: [
      {
        slug: 'acme',
        name: 'Acme',
        dialect: 'openai-chat',
        base_url: upstream.url,
        data_policy: { training: false, retains_prompts: false },
      },
    ],
    models: [{ id: 'm/one', endpoints: [{ provider: 'acme', model: 'one' }] }],
    limits: CONFIG.limits,
  });

  beforeAll(async () => {
    upstream = await openFakeUpstream();
    busy = await openTestGateway(config() as never);
  });

  afterAll(async () => {
    await busy.close();
    await upstream.close();
  });

  const ask = async (headers: Record<string, string>, body: object = {}) => {
    upstream.answer(chatAnswer({ text: 'hello', usage: { input: 10, output: 5 } }));
    const reply = await busy.post(
      '/chat/completions',
      { model: 'm/one', messages: [{ role: 'user', content: 'Hi' }], ...body },
      headers,
    );
    expect(reply.status).toBe(200);
    return ((await reply.json()) as { id: string }).id;
  };

  const today = () => new Date().toISOString().slice(0, 10);

  const rankings = async (query = ''): Promise<any[]> => {
    const reply = await busy.fetch(`/datasets/app-rankings?end_date=${today()}${query}`);
    return ((await reply.json()) as { data: any[] }).data;
  };

  async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
    const deadline = Date.now() + 8_000;
    for (;;) {
      const value = await read();
      if (holds(value)) return value;
      if (Date.now() > deadline) throw new Error(`never happened: ${JSON.stringify(value)}`);
      await delay(50);
    }
  }

  it('attributes requests to apps, by the rules', async () => {
    const id = await ask({
      'http-referer': 'https://Known.example/page?x=1',
      'x-signalbox-title': 'Old',
      'x-signalbox-categories': 'cli-agent, unheard-of',
    });
    await ask({
      'http-referer': 'https://known.example',
      'x-title': 'New',
      'x-signalbox-categories': 'game',
    });
    await ask({ 'http-referer': 'https://secret.example', 'x-title': 'Hidden soon' });
    await ask({ 'x-title': 'No referer' });
    await ask({ 'http-referer': 'http://localhost:3000' });
    await ask({ 'http-referer': 'http://localhost:3000', 'x-title': 'Local' });
    await ask({ 'http-referer': 'https://nothing-kept.example' }, { provider: { zdr: true } });
    await ask({ 'http-referer': 'https://last.example' });
    const data = await until(
      () => rankings(),
      (rows) => rows.some(({ app_name }) => app_name === 'last.example'),
    );
    expect(
      data.map(({ app_name, total_requests, total_tokens, rank }) => [
        rank,
        app_name,
        total_requests,
        total_tokens,
      ]),
    ).toEqual([
      [1, 'New', 2, '30'],
      [2, 'Hidden soon', 1, '15'],
      [3, 'Local', 1, '15'],
      [4, 'last.example', 1, '15'],
    ]);
    for (const category of ['coding', 'entertainment']) {
      expect((await rankings(`&category=${category}`)).map(({ app_name }) => app_name)).toEqual(['New']);
    }
    expect(await rankings('&category=productivity')).toEqual([]);
    const generation = ((await (await busy.fetch(`/generation?id=${id}`)).json()) as any).data;
    expect(generation).toMatchObject({
      app_id: data[0].app_id,
      http_referer: 'https://Known.example/page?x=1',
    });
  });

  it('hides apps that the operator hides, as soon as the file is reloaded', async () => {
    writeFileSync(busy.configFile, stringify({ ...config(), apps: { hidden: ['secret.example'] } }));
    const data = await until(
      () => rankings(),
      (rows) => rows.length === 3,
    );
    expect(data.map(({ rank, app_name }) => [rank, app_name])).toEqual([
      [1, 'New'],
      [2, 'Local'],
      [3, 'last.example'],
    ]);
  });
});
