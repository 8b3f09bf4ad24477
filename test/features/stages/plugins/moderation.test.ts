import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer } from '../../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  reply,
  reset,
  write,
} from '../../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../../kit/gateway-harness.ts';
import { ask, FORMATS, PATHS, WAYS } from './formats.ts';

let upstream: FakeUpstream;
let service: FakeUpstream;
let gateway: TestGateway;
let bare: TestGateway;

const plugins = [{ id: 'moderation' }];

beforeAll(async () => {
  upstream = await openFakeUpstream();
  service = await openFakeUpstream();
  const models = [
    { id: 'm/one', endpoints: [{ provider: 'acme', model: 'one' }] },
    { id: 'm/vectors', output_modalities: ['embeddings'], endpoints: [{ provider: 'acme' }] },
  ];
  const acme = { slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url };
  const judge = {
    slug: 'judge',
    name: 'Judge',
    dialect: 'openai-chat',
    base_url: service.url,
    api_key: 'secret-of-judge',
  };
  gateway = await openTestGateway({
    providers: [acme, judge],
    models,
    plugins: { moderation: { provider: 'judge', model: 'judge-1' } },
  } as never);
  bare = await openTestGateway({ providers: [acme], models } as never);
});
beforeEach(() => {
  upstream.clear();
  service.clear();
  upstream.answer(chatAnswer({ text: 'Hello' }));
});
afterAll(async () => {
  await gateway.close();
  await bare.close();
  await upstream.close();
  await service.close();
});

/** Flags every text that holds the word. */
function flagging(word: string): void {
  service.answer((request) => {
    const results = request.json.input.map((text: string) => {
      const flagged = text.includes(word);
      return { flagged, categories: { violence: flagged, hate: false } };
    });
    return [head(200, JSON_TYPE), write(JSON.stringify({ results })), end()];
  });
}

describe.each(WAYS)('moderation on %s, streamed: %s', (path, stream) => {
  it('lets pass what is not flagged', async () => {
    flagging('kill');
    const body = { model: 'm/one', stream, plugins, ...FORMATS[path].of('Good morning') };
    const { status, metadata } = await ask(gateway, path, body);
    expect(status).toBe(200);
    expect(service.requests[0]).toMatchObject({
      path: '/v1/moderations',
      headers: { authorization: 'Bearer secret-of-judge' },
      json: { model: 'judge-1', input: ['Good morning'] },
    });
    expect(upstream.requests).toHaveLength(1);
    expect(metadata.pipeline).toContainEqual(
      expect.objectContaining({ name: 'moderation', data: expect.objectContaining({ flagged: false }) }),
    );
  });

  it('refuses what is flagged, and nothing is sent', async () => {
    flagging('kill');
    const text = `kill ${'x'.repeat(200)} end`;
    const body = { model: 'm/one', stream, plugins, ...FORMATS[path].of(text) };
    const { status, answer, metadata } = await ask(gateway, path, body);
    expect(status).toBe(403);
    expect(upstream.requests).toHaveLength(0);
    expect(answer.error.metadata).toMatchObject({
      reasons: ['violence'],
      flagged_input: `kill ${'x'.repeat(44)}...${'x'.repeat(44)} end`,
      provider_name: 'Judge',
      model_slug: 'judge-1',
    });
    expect(metadata.pipeline).toMatchObject([{ name: 'moderation', data: { flagged: true } }]);
  });
});

it.each(WAYS)('is switched off on %s, streamed: %s', async (path, stream) => {
  const off = [{ id: 'moderation', enabled: false }];
  const { status } = await ask(gateway, path, {
    model: 'm/one',
    stream,
    plugins: off,
    ...FORMATS[path].of('Hi'),
  });
  expect(status).toBe(200);
  expect(service.requests).toHaveLength(0);
});

it.each(WAYS)('refuses bad settings on %s, streamed: %s', async (path, stream) => {
  for (const [settings, place] of [
    [{ enabled: 'no' }, 'plugins[0].enabled'],
    [{ surprise: 1 }, 'plugins[0].surprise'],
  ] as const) {
    const wrong = [{ id: 'moderation', ...settings }];
    const { status, answer } = await ask(gateway, path, {
      model: 'm/one',
      stream,
      plugins: wrong,
      ...FORMATS[path].of('Hi'),
    });
    expect(status).toBe(400);
    expect(answer.error.message).toContain(place);
  }
  expect(upstream.requests).toHaveLength(0);
});

it('does not work on embeddings, which have no plugins, and the report says so', async () => {
  const vectors = { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 1, total_tokens: 1 } };
  upstream.clear();
  upstream.answer(reply(200, vectors));
  const { status, metadata } = await ask(gateway, '/embeddings', { model: 'm/vectors', plugins, input: 'x' });
  expect(status).toBe(200);
  expect(service.requests).toHaveLength(0);
  expect(metadata.translation).toContainEqual(
    expect.objectContaining({ field: 'plugins', action: 'dropped' }),
  );
});

it.each(PATHS)('fails closed on %s while the service is down, refuses or answers nonsense', async (path) => {
  const wrong = [
    [reset()],
    [head(500), write('secret detail'), end()],
    [head(200, JSON_TYPE), write('{"results": []}'), end()],
    [head(200, JSON_TYPE), write('<html>'), end()],
  ];
  for (const script of wrong) {
    service.clear();
    service.answer(script);
    const { status, answer } = await ask(gateway, path, {
      model: 'm/one',
      plugins,
      ...FORMATS[path].of('Hi'),
    });
    expect(status).toBe(503);
    expect(JSON.stringify(answer)).toContain('/moderations of Judge');
    expect(JSON.stringify(answer)).not.toContain('secret');
  }
  expect(upstream.requests).toHaveLength(0);
});

it.each(PATHS)('is refused on %s where it is not configured', async (path) => {
  const { status, answer } = await ask(bare, path, { model: 'm/one', plugins, ...FORMATS[path].of('Hi') });
  expect(status).toBe(400);
  expect(answer.error.message).toMatch(/^plugins\[0\]\.id: moderation is not configured/);
});

it('judges every text of the caller, long ones in pieces', async () => {
  flagging('kill');
  const messages = [
    { role: 'system', content: 'one' },
    { role: 'user', content: [{ type: 'text', text: 'two' }] },
    {
      role: 'assistant',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"three"}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'four' },
    { role: 'user', content: `${'y'.repeat(150_000)}kill` },
  ];
  const { status, answer } = await ask(gateway, '/chat/completions', { model: 'm/one', plugins, messages });
  expect(status).toBe(403);
  expect(answer.error.metadata.flagged_input).toMatch(/kill$/);
  const asked = service.requests.flatMap(({ json }) => json.input as string[]);
  expect(asked.slice(0, 4)).toEqual(['one', 'two', '{"a":"three"}', 'four']);
});

it('is recorded with the time that it took', async () => {
  flagging('kill');
  const response = await gateway.post('/chat/completions', {
    model: 'm/one',
    plugins,
    ...FORMATS['/chat/completions'].of('kill'),
  });
  const id = response.headers.get('x-generation-id');
  const { data } = (await (await gateway.fetch(`/generation?id=${id}`)).json()) as any;
  expect(data.moderation_latency).toBeGreaterThanOrEqual(0);
  expect(data.total_cost).toBe(0);
});
