import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type {
  ConversationObject,
  ConversationsReply,
} from '../../../src/contract/generations/conversation.ts';
import type { GenerationsReply } from '../../../src/contract/generations/generation-log.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let gateway: TestGateway;
let research: { id: string; key: string; hash: string };

/** A session id with all that an address and a list must not read as their own. */
const ODD = 'a, b.c & "d"/ü';

beforeAll(async () => {
  gateway = await openTestGateway({ providers: [{ slug: 'simulator' }] });
  const workspace = await manage<{ data: { id: string } }>('/workspaces', {
    name: 'Research',
    slug: 'research',
  });
  const { id } = workspace.data;
  const made = await manage<{ key: string; data: { hash: string } }>('/keys', {
    name: 'r',
    workspace_id: id,
  });
  research = { id, key: made.key, hash: made.data.hash };
  await ask(gateway.apiKey, 'simulator/standard', { session_id: 's-1', user: 'ada' });
  await ask(gateway.apiKey, 'simulator/reasoning', { session_id: 's-1' });
  await ask(gateway.apiKey, 'simulator/standard', { session_id: 's-1' });
  await ask(gateway.apiKey, 'simulator/fail-500', { session_id: ODD });
  await ask(gateway.apiKey, 'simulator/standard', {});
  await ask(research.key, 'simulator/standard', { session_id: 's-1' });
  await ask(research.key, 'not/there', { session_id: 's-1' });
  await ask(research.key, 'simulator/standard', { session_id: 's-2', user: 'grace' });
  // Rows of refused requests come a moment later.
  await vi.waitFor(
    async () =>
      expect((await list('')).data.map(({ generations, refused }) => [generations, refused])).toEqual([
        [1, 0],
        [1, 1],
        [1, 0],
        [3, 0],
      ]),
    { timeout: 20_000 },
  );
});
afterAll(() => gateway.close());

async function manage<T>(path: string, body: object): Promise<T> {
  const response = await gateway.fetch(path, {
    method: 'POST',
    key: gateway.managementKey,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(201);
  return (await response.json()) as T;
}

async function ask(key: string, model: string, more: object): Promise<void> {
  const response = await gateway.fetch('/chat/completions', {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json', 'http-referer': 'https://app.example/' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], ...more }),
  });
  await response.text();
}

async function list(query: string, key = gateway.managementKey): Promise<ConversationsReply> {
  const response = await gateway.fetch(`/generations/conversations?${query}`, { key });
  expect(response.status).toBe(200);
  return (await response.json()) as ConversationsReply;
}

const namesOf = ({ data }: ConversationsReply) =>
  data.map(({ session_id, workspace_name }) => `${workspace_name}: ${session_id}`);

const FIRST = 'Default Workspace: s-1';
const FAILED = `Default Workspace: ${ODD}`;

describe('GET /generations/conversations', () => {
  it('lists them by their last request, each workspace for itself, with the sums of the log', async () => {
    const { data, next, missing_before } = await list('');
    expect({ next, missing_before }).toEqual({ next: null, missing_before: null });
    expect(namesOf({ data, next, missing_before })).toEqual([
      'Research: s-2',
      'Research: s-1',
      FAILED,
      FIRST,
    ]);
    for (const conversation of data) expect(conversation).toEqual(await fromLog(conversation));
    expect(data[3]).toMatchObject({
      models: ['simulator/standard', 'simulator/reasoning'],
      external_user: 'ada',
      app: 'app.example',
      generations: 3,
      failed: 0,
      refused: 0,
    });
    expect(data[2]).toMatchObject({ generations: 1, failed: 1, cost: 0 });
    expect(data[1]).toMatchObject({ key_name: 'r', key_hash: research.hash, generations: 1, refused: 1 });
  });

  /** The same conversation, added up from the rows of the log. */
  async function fromLog(conversation: ConversationObject): Promise<object> {
    const { session_id, workspace_id } = conversation;
    const query = new URLSearchParams({ session_id, workspace: workspace_id, order: 'asc' });
    const response = await gateway.fetch(`/generations?${query}`, { key: gateway.managementKey });
    const { data } = (await response.json()) as GenerationsReply;
    const [first] = data;
    const last = data.at(-1);
    const sum = (name: 'tokens_prompt' | 'tokens_completion' | 'tokens_reasoning' | 'tokens_cached') =>
      data.reduce((total, row) => total + row[name], 0);
    const ends = data.map(({ created_at, duration_ms }) => Date.parse(created_at) + (duration_ms ?? 0));
    return {
      ...conversation,
      workspace_name: first?.workspace_name,
      key_hash: last?.key_hash,
      key_name: last?.key_name,
      generations: data.filter(({ state }) => state !== 'refused').length,
      failed: data.filter(({ state }) => state === 'failed').length,
      refused: data.filter(({ state }) => state === 'refused').length,
      tokens_prompt: sum('tokens_prompt'),
      tokens_completion: sum('tokens_completion'),
      tokens_reasoning: sum('tokens_reasoning'),
      tokens_cached: sum('tokens_cached'),
      cost: expect.closeTo(
        data.reduce((total, { cost }) => total + cost, 0),
        9,
      ),
      byok_cost: 0,
      first_at: first?.created_at,
      last_at: last?.created_at,
      duration_ms: Math.max(...ends) - Date.parse(first?.created_at ?? ''),
    };
  }

  it('shows a key its own generations only, whatever it asks for', async () => {
    expect(namesOf(await list('', research.key))).toEqual(['Research: s-2', 'Research: s-1']);
    expect(namesOf(await list('', gateway.apiKey))).toEqual([FAILED, FIRST]);
    expect(await list(`key=${research.hash}`, gateway.apiKey)).toEqual({
      data: [],
      next: null,
      missing_before: null,
    });
    expect((await list(`workspace=${research.id}`, gateway.apiKey)).data).toEqual([]);
  });

  it.each([
    ['session_id=s-1', ['Research: s-1', FIRST]],
    ['search=s-', ['Research: s-2', 'Research: s-1', FIRST]],
    [`search=${encodeURIComponent('b.c &')}`, [FAILED]],
    [`session_id=${encodeURIComponent(ODD)}`, [FAILED]],
    ['external_user=grace', ['Research: s-2']],
    ['model=simulator/reasoning', [FIRST]],
    ['provider=Simulator&app=app.example&session_id=s-2', ['Research: s-2']],
    ['from=2020-01-01&to=2020-01-02', []],
    ['sort=generations&limit=1', [FIRST]],
    ['sort=failed&limit=1', [FAILED]],
    ['sort=tokens&limit=1', [FIRST]],
    ['order=asc&limit=2', [FIRST, FAILED]],
  ])('filters and sorts by %s', async (query, expected) => {
    expect(namesOf(await list(query))).toEqual(expected);
  });

  it('finds those of a workspace and of a key', async () => {
    for (const filter of [`workspace=${research.id.toUpperCase()}`, `key=${research.hash}`]) {
      expect(namesOf(await list(filter))).toEqual(['Research: s-2', 'Research: s-1']);
    }
  });

  it('counts the generations alone that match', async () => {
    const { data } = await list('session_id=s-1&model=simulator/standard');
    expect(data.map(({ generations, models }) => [generations, models])).toEqual([
      [1, ['simulator/standard']],
      [2, ['simulator/standard']],
    ]);
  });

  it.each(['last_at', 'duration_ms', 'generations', 'tokens', 'cost', 'failed'])(
    'goes through pages in the order of %s, without repeating or missing one',
    async (sort) => {
      for (const order of ['desc', 'asc']) {
        const all = namesOf(await list(`sort=${sort}&order=${order}`));
        const found: string[] = [];
        for (let after = ''; ; ) {
          const page = await list(`sort=${sort}&order=${order}&limit=1${after}`);
          found.push(...namesOf(page));
          if (page.next === null) break;
          after = `&after=${encodeURIComponent(page.next)}`;
        }
        expect(found).toEqual(all);
        expect(all.length).toBe(4);
      }
    },
  );

  it.each([
    'from=yesterday',
    'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
    'key=abc',
    'workspace=research',
    `session_id=${'x'.repeat(257)}`,
    'sort=model',
    'order=newest',
    'limit=201',
    'after=x',
    'state=failed',
    'session=s-1',
  ])('refuses %s with the path of the mistake', async (query) => {
    const response = await gateway.fetch(`/generations/conversations?${query}`, {
      key: gateway.managementKey,
    });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toMatch(new RegExp(`^${query.split('=')[0]}(\\[0\\])?: `));
  });

  it('needs a key', async () => {
    const response = await gateway.fetch('/generations/conversations', { key: 'sk-sb-v1-of-nobody' });
    expect(response.status).toBe(401);
  });
});
