import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { end, type FakeUpstream, head, openFakeUpstream, write } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

const prices = { prompt: '0.000001', completion: '0.000002' };

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const provider = (slug: string) => ({
    slug,
    name: slug.toUpperCase(),
    dialect: 'openai-chat',
    base_url: `${upstream.url}/${slug}`,
    api_key: `shared-${slug}`,
  });
  gateway = await openTestGateway({
    providers: [
      { ...provider('aa'), data_policy: { training: false, retains_prompts: true } },
      provider('bb'),
    ],
    models: [
      {
        id: 'm/one',
        endpoints: [
          { provider: 'aa', model: 'one', pricing: prices },
          { provider: 'bb', model: 'one', pricing: { prompt: '0.0000001', completion: '0.0000001' } },
        ],
      },
    ],
    byok: { fee: 0.05 },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const manage = async (method: string, path: string, body?: object) => {
  const response = await gateway.fetch(path, {
    method,
    key: gateway.managementKey,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  return (await response.json()) as any;
};
const bring = async (more: object = {}) =>
  (await manage('POST', '/byok', { provider: 'aa', key: 'own-key-of-the-caller', ...more })).data
    .id as string;
afterEach(async () => {
  for (const { id } of (await manage('GET', '/byok')).data) await manage('DELETE', `/byok/${id}`);
  upstream.clear();
});

const ask = async (body: object = {}) => {
  const response = await gateway.post(
    '/responses',
    { model: 'm/one', input: 'Hi', ...body },
    { 'X-Signalbox-Metadata': 'enabled' },
  );
  return { status: response.status, body: (await response.json()) as any };
};
const keysSent = () => upstream.requests.map(({ headers }) => String(headers.authorization).slice(7));
const refused = [
  head(401, { 'content-type': 'application/json' }),
  write(JSON.stringify({ error: { message: 'bad key own-key-of-the-caller' } })),
  end(),
];

describe('a credential that the account brought', () => {
  it('comes before cheaper shared endpoints, and only its fee is charged', async () => {
    await bring();
    upstream.answer(chatAnswer({ text: 'ok', usage: { input: 1000, output: 1000 } }));
    const { body } = await ask();
    expect(keysSent()).toEqual(['own-key-of-the-caller']);
    expect(body.signalbox_metadata).toMatchObject({ is_byok: true, summary: 'available=3, selected=AA' });
    expect(body.usage).toMatchObject({ is_byok: true, cost: 0.00015 });
    expect(body.usage.cost_details.upstream_inference_cost).toBe(0.003);
  });

  it('falls back to the shared endpoints when it fails, without harm to their health', async () => {
    await bring();
    upstream.answer(refused);
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { status, body } = await ask({ provider: { order: ['aa'] } });
    expect(status).toBe(200);
    expect(keysSent()).toEqual(['own-key-of-the-caller', 'shared-aa']);
    expect(body.signalbox_metadata.is_byok).toBe(false);
    const explained = (await (
      await gateway.post('/routing/explain', { model: 'm/one', input: 'x' })
    ).json()) as any;
    const failures = explained.data.candidates.map(({ credential, health }: any) => [
      credential.slice(0, 4),
      health.failures,
    ]);
    expect(failures).toContainEqual(['byok', 1]);
    expect(failures).toContainEqual(['shar', 0]);
  });

  it('does not show in the error when it is all that there is', async () => {
    await bring({ is_byok_only: true });
    upstream.answer(refused);
    const { status, body } = await ask({ provider: { only: ['aa'] } });
    expect(status).toBe(502);
    expect(JSON.stringify(body)).not.toContain('own-key-of-the-caller');
    expect(keysSent()).toEqual(['own-key-of-the-caller']);
  });

  it('waits until the shared endpoints failed when it is a fallback', async () => {
    await bring({ is_fallback: true });
    upstream.answer(chatAnswer({ text: 'ok' }));
    await ask({ provider: { order: ['bb'] } });
    expect(keysSent()).toEqual(['shared-bb']);
    const explained = (await (
      await gateway.post('/routing/explain', { model: 'm/one', input: 'x' })
    ).json()) as any;
    expect(explained.data.candidates.at(-1).credential).toMatch(/^byok:/);
  });

  it.each([
    ['another model', { allowed_models: ['m/other'] }],
    ['another user', { allowed_user_ids: ['somebody'] }],
    ['no caller, being disabled', { disabled: true }],
  ])('is not used when it is for %s', async (_, filter) => {
    await bring(filter);
    upstream.answer(chatAnswer({ text: 'ok' }));
    await ask({ provider: { order: ['aa'] } });
    expect(keysSent()).toEqual(['shared-aa']);
  });

  it('never exempts a provider from the data policy', async () => {
    await bring();
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { status, body } = await ask({ provider: { data_collection: 'deny' } });
    expect(status).toBe(404);
    expect(body.error.message).toContain('data_collection');
    expect(upstream.requests).toHaveLength(0);
  });

  it('is forgotten at once when it is deleted', async () => {
    const id = await bring();
    upstream.answer(chatAnswer({ text: 'ok' }));
    await ask();
    await manage('DELETE', `/byok/${id}`);
    await ask({ provider: { order: ['aa'] } });
    expect(keysSent()).toEqual(['own-key-of-the-caller', 'shared-aa']);
  });

  it('is used with the new secret once it was changed', async () => {
    const id = await bring();
    upstream.answer(chatAnswer({ text: 'ok' }));
    await ask();
    await manage('PATCH', `/byok/${id}`, { key: 'another-key-of-the-caller' });
    await ask();
    expect(keysSent()).toEqual(['own-key-of-the-caller', 'another-key-of-the-caller']);
  });
});

describe('a provider that the gateway has no credential for', () => {
  const known = 'openai/gpt-5';
  const listed = async (path: string) =>
    ((await (await gateway.fetch(path)).json()) as any).data.map(({ id }: any) => id);

  it('is open only to accounts with a credential', async () => {
    expect((await ask({ model: known })).status).toBe(400);
    expect(await listed('/models/user')).toEqual(['m/one']);
    const id = await bring({ provider: 'openai' });
    expect(await listed('/models/user')).toContain(known);
    expect(await listed('/models')).toEqual(['m/one']);
    const response = await gateway.post('/routing/explain', { model: known, input: 'x' });
    const { data } = (await response.json()) as any;
    expect(data.candidates.map(({ credential }: any) => credential)).toEqual([`byok:${id}`]);
    expect(new Set(data.rejected.map(({ filter }: any) => filter))).toEqual(new Set(['credentials']));
  });
});

describe('bad credentials of an account', () => {
  it('leave room for the shared endpoints', async () => {
    for (let count = 0; count < 4; count++) await bring({ key: `bad-key-number-${count}` });
    upstream.answer((request) =>
      String(request.headers.authorization).includes('bad-key')
        ? refused
        : (chatAnswer({ text: 'ok' }) as (request: unknown) => never)(request),
    );
    const { status, body } = await ask({ provider: { order: ['aa'] } });
    expect(status).toBe(200);
    expect(body.signalbox_metadata.attempt).toBe(5);
    expect(keysSent().at(-1)).toBe('shared-aa');
  });

  it('are reported as such, and are up to the account', async () => {
    await bring({ is_byok_only: true });
    upstream.answer(refused);
    const { body } = await ask({ provider: { only: ['aa'] } });
    expect(body.error.message).toContain("the account's BYOK credential");
    expect(body.signalbox_metadata.is_byok).toBe(true);
  });
});

describe('a prompt that the provider flags', () => {
  it('is 403 to its caller and does not affect others', async () => {
    upstream.answer([
      head(403, { 'content-type': 'application/json' }),
      write(JSON.stringify({ error: { message: 'Your input was flagged by moderation', code: 403 } })),
      end(),
    ]);
    for (let count = 0; count < 6; count++) {
      expect((await ask({ provider: { only: ['bb'] } })).status).toBe(403);
    }
    const explained = (await (
      await gateway.post('/routing/explain', { model: 'm/one', input: 'x', provider: { only: ['bb'] } })
    ).json()) as any;
    expect(explained.data.candidates[0].health).toMatchObject({ state: 'ok', failures: 0 });
  });
});
