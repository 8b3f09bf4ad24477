import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isSampled } from '../../../src/following/sampling.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import {
  type FakeUpstream,
  openFakeUpstream,
  reply,
  type Script,
  stall,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const pricing = { prompt: '0.000001', completion: '0.000002' };
const PATIENCE = { timeout: 60_000, interval: 100 };

const topic = { name: 'topic', values: [{ value: 'billing' }, { value: 'shipping' }] };
const mood = { name: 'mood', values: [{ value: 'calm' }, { value: 'angry' }] };

/** The choice of each question that a request asks, by a word of its transcript. */
export const byWords: Script = (request) => {
  const text = JSON.stringify(request.json);
  const isAngry = text.includes('Late again');
  const q1 = { choice: text.includes('parcel') ? 'shipping' : 'billing', confidence: 1 };
  const q2 = { choice: isAngry ? 'angry' : 'calm', confidence: 1 };
  const script = chatAnswer({ text: JSON.stringify({ q1, q2 }) });
  return typeof script === 'function' ? script(request) : script;
};

/** What classifiers do after answers, with events in a store that `env` names. */
export function classifyingContract(name: string, env: () => Promise<Record<string, string>>): void {
  describe(`an active classifier, events in ${name}`, () => {
    let upstream: FakeUpstream;
    let gateway: TestGateway;
    let management: Management;
    let made: string[];

    beforeAll(async () => {
      upstream = await openFakeUpstream();
      gateway = await openTestGateway(
        {
          providers: [
            { slug: 'simulator' },
            { slug: 'up', name: 'Up', dialect: 'openai-chat', base_url: upstream.url, api_key: 'k' },
          ],
          limits: { analytics_per_minute: 100_000 },
          models: [{ id: 'up/chat', endpoints: [{ provider: 'up', model: 'm', pricing }] }],
        },
        { env: await env(), classifierMs: 5_000 },
      );
      management = managementOf(gateway);
    });
    afterAll(async () => {
      await gateway.close();
      await upstream.close();
    });
    beforeEach(async () => {
      for (const id of made ?? []) await management.ask('DELETE', `/classifiers/${id}`);
      made = [];
      upstream.clear();
    });

    const create = async (more: JsonObject = {}): Promise<string> => {
      const settings = { name: 'Topics', model: 'up/chat', dimensions: [topic, mood], ...more };
      const { id } = await management.data(201, 'POST', '/classifiers', settings);
      made.push(id);
      return id;
    };

    const ask = async (
      text: string,
      more: JsonObject = {},
      path = '/chat/completions',
      key = gateway.apiKey,
    ): Promise<string> => {
      const body = path === '/responses' ? { input: text } : { messages: [{ role: 'user', content: text }] };
      const asked = { model: 'simulator/standard', max_tokens: 50, ...body, ...more };
      const response = await gateway.post(path, asked, { authorization: `Bearer ${key}` });
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
      return response.headers.get('x-generation-id') ?? '';
    };

    /** A key whose guardrail demands zero retention. */
    const keyWithoutRetention = async (): Promise<string> => {
      const guardrail = await management.data(201, 'POST', '/guardrails', {
        name: 'None',
        enforce_zdr: true,
      });
      const { key, data } = (await management.ask('POST', '/keys', { name: 'Discreet' })).body;
      const assigned = { key_hashes: [data.hash] };
      const { status } = await management.ask(
        'POST',
        `/guardrails/${guardrail.id}/assignments/keys`,
        assigned,
      );
      expect(status).toBe(200);
      return key;
    };

    const query = async (body: JsonObject): Promise<any[]> =>
      (await management.data(200, 'POST', '/analytics/query', { metrics: ['request_count'], ...body })).data;

    /** Requests by topic and mood. */
    const byTags = async (id: string) => {
      const rows = await query({
        classifier_dimensions: { classifier_id: id, dimension_names: ['topic', 'mood'] },
      });
      return Object.fromEntries(rows.map((row) => [`${row.topic}/${row.mood}`, row.request_count]));
    };

    it('tags what every format answers, and analytics group and filter by its tags', async () => {
      upstream.answer(byWords);
      const id = await create();
      await ask('Where is my parcel?');
      await ask('Late again, my parcel!', { stream: true });
      await ask('My invoice, please', {}, '/messages');
      await ask('My invoice, please', { max_tokens: null, stream: true }, '/responses');
      await expect
        .poll(() => byTags(id), PATIENCE)
        .toEqual({ 'shipping/calm': 1, 'shipping/angry': 1, 'billing/calm': 2 });
      expect(upstream.requests).toHaveLength(4);
      const angry = await query({
        classifier_dimensions: { classifier_id: id },
        classifier_filters: {
          classifier_id: id,
          filters: [{ field: 'mood', operator: 'eq', value: 'angry' }],
        },
      });
      expect(angry).toEqual(
        expect.arrayContaining([
          { clf_dimension_name: 'topic', clf_dimension_value: 'shipping', request_count: 1 },
          { clf_dimension_name: 'mood', clf_dimension_value: 'angry', request_count: 1 },
        ]),
      );
      const topics = { classifier_id: id, dimension_names: ['topic'] };
      const filtered = await query({
        classifier_dimensions: topics,
        classifier_filters: {
          classifier_id: id,
          filters: [{ field: 'mood', operator: 'not_in', value: ['angry'] }],
        },
      });
      expect(filtered).toHaveLength(2);
      // The classifier's own generations have no tags.
      const untagged = async () =>
        (await query({ classifier_dimensions: { ...topics, include_nulls: true } })).find(
          (row) => row.topic === null,
        );
      await expect.poll(untagged, PATIENCE).toEqual({ topic: null, request_count: 4 });
      const own = async () =>
        (await query({ dimensions: ['api_key_id'] })).find((row) => row.api_key_id === 'Classifier Topics');
      await expect.poll(own, PATIENCE).toMatchObject({ request_count: 4 });
      const logged = await management.data(200, 'GET', '/generations?request_format=decisions');
      expect(logged.map(({ key_name: of }: { key_name: string }) => of)).toEqual(
        Array.from({ length: 4 }, () => 'Classifier Topics'),
      );
      const metrics = await fetch(`${gateway.origin}/metrics`, {
        headers: { authorization: `Bearer ${gateway.managementKey}` },
      });
      expect(await metrics.text()).toMatch(/signalbox_classifications_total\{outcome="classified"\} 4\n/);
    });

    it('reads nothing of requests that demand zero retention, of embeddings and of its own', async () => {
      upstream.answer(byWords);
      const id = await create();
      await ask('Secret parcel', { provider: { zdr: true } });
      await ask('Secret parcel of a key', {}, '/chat/completions', await keyWithoutRetention());
      await gateway.post('/embeddings', { model: 'simulator/embeddings', input: 'parcel' });
      await gateway.post('/decisions', {
        model: 'simulator/standard',
        input: 'parcel',
        questions: [{ type: 'predicate', name: 'late', instructions: 'It is late.' }],
      });
      await ask('My invoice');
      await expect.poll(() => byTags(id), PATIENCE).toEqual({ 'billing/calm': 1 });
      expect(JSON.stringify(upstream.requests.map(({ json }) => json))).not.toContain('Secret parcel');
      // Its own generation has come to its place among those of the workspace by now.
      await ask('My parcel');
      await expect.poll(() => byTags(id), PATIENCE).toEqual({ 'billing/calm': 1, 'shipping/calm': 1 });
      expect(upstream.requests).toHaveLength(2);
    });

    it('classifies the sessions that its sample holds, always the same', async () => {
      upstream.answer(byWords);
      const id = await create({ sampling_rate: 0.5 });
      const sessions = Array.from({ length: 8 }, (_, index) => `session-${index}`);
      const held = sessions.filter((session_id) => isSampled({ id: '', row: { session_id } }, 0.5));
      expect(held.length).toBeGreaterThan(0);
      expect(held.length).toBeLessThan(8);
      for (const session_id of [...sessions, ...sessions]) await ask('My invoice', { session_id });
      // Behind all of them.
      await ask('My parcel', { session_id: held[0] as string });
      await expect
        .poll(() => byTags(id), PATIENCE)
        .toEqual({ 'billing/calm': 2 * held.length, 'shipping/calm': 1 });
    });

    it.each([
      ['nonsense', chatAnswer({ text: 'no' })],
      ['nothing', chatAnswer({ text: '' })],
      ['other values', chatAnswer({ text: '{"q1":{"choice":"x","confidence":1},"q2":{"choice":7}}' })],
      ['a refusal of the provider', reply(400, { error: { message: 'no' } })],
    ])('writes no tags if the model answers %s, says so, and goes on', async (_, script) => {
      upstream.answer(script);
      const id = await create();
      const first = await ask('My parcel');
      const problemOf = async () => (await management.data(200, 'GET', `/classifiers/${id}`)).last_problem;
      await expect
        .poll(problemOf, PATIENCE)
        .toMatchObject({ generation_id: first, message: expect.stringMatching(/./) });
      upstream.clear();
      upstream.answer(byWords);
      await ask('My parcel');
      await expect.poll(() => byTags(id), PATIENCE).toEqual({ 'shipping/calm': 1 });
    });

    it('never delays a request while its model hangs or is down, and classifies it later', async () => {
      upstream.answer([stall(60_000)]);
      const id = await create();
      const startedAt = performance.now();
      for (let index = 0; index < 5; index++) await ask('My parcel');
      // The model alone would take a minute each time.
      expect(performance.now() - startedAt).toBeLessThan(30_000);
      await upstream.request(0);
      const state = async () => (await management.data(200, 'GET', `/classifiers/${id}`)).state;
      await expect.poll(state, PATIENCE).toMatchObject({ problem: 'the model did not answer in time' });
      upstream.clear();
      upstream.answer(byWords);
      const classified = async () => (await byTags(id))['shipping/calm'] ?? 0;
      await expect.poll(classified, { interval: 100 }).toBe(5);
    });

    it('leaves out what its budget does not pay for, and limits of keys count nothing of it', async () => {
      upstream.answer(byWords);
      const id = await create({ monthly_budget_usd: 0.000_001 });
      await ask('My parcel');
      const metrics = async () => {
        const headers = { authorization: `Bearer ${gateway.managementKey}` };
        return (await fetch(`${gateway.origin}/metrics`, { headers })).text();
      };
      await expect
        .poll(metrics, PATIENCE)
        .toMatch(/signalbox_classifications_total\{outcome="over_budget"\} [1-9]/);
      expect(upstream.requests).toEqual([]);
      expect(await byTags(id)).toEqual({});
    });

    it('stops when it is switched off or deleted', async () => {
      upstream.answer(byWords);
      const id = await create();
      await ask('My parcel');
      await expect.poll(() => byTags(id), PATIENCE).toEqual({ 'shipping/calm': 1 });
      await management.data(200, 'PATCH', `/classifiers/${id}`, { is_active: false });
      await ask('My parcel');
      await management.data(200, 'PATCH', `/classifiers/${id}`, { is_active: true });
      await ask('My invoice');
      await expect.poll(() => byTags(id), PATIENCE).toEqual({ 'shipping/calm': 1, 'billing/calm': 1 });
      const other = await create({ name: 'Other', is_active: false });
      await management.ask('DELETE', `/classifiers/${id}`);
      await management.data(200, 'PATCH', `/classifiers/${other}`, { is_active: true });
      expect(await byTags(other)).toEqual({});
    });
  });
}
