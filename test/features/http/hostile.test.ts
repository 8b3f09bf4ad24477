import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import {
  type FakeUpstream,
  head,
  JSON_TYPE,
  never,
  openFakeUpstream,
  reply,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/** Malicious or badly broken callers and upstreams. */

const SECRET = 'CANARYkey+up/9f3e7a=Zq';
const MODELS = Array.from({ length: 12 }, (_, index) => `up/many-${index}`);

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const provider = { base_url: upstream.url, api_key: SECRET };
  gateway = await openTestGateway({
    providers: [
      { slug: 'chat', dialect: 'openai-chat', ...provider },
      { slug: 'messages', dialect: 'anthropic-messages', ...provider },
    ],
    models: [
      { id: 'up/chat', endpoints: [{ provider: 'chat', model: 'm' }] },
      ...MODELS.map((id) => ({
        id,
        endpoints: [1, 2, 3, 4, 5].map((tag) => ({
          provider: 'messages',
          model: 'm',
          tag: `messages/${tag}`,
        })),
      })),
    ],
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

const ask = (more: object = {}, init: RequestInit = {}) =>
  gateway.fetch('/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'up/chat', messages: [{ role: 'user', content: 'x' }], ...more }),
    ...init,
  });

describe('count_tokens', () => {
  it('makes no more calls than a generation', async () => {
    upstream.answer(reply(500, {}));
    const messages = [{ role: 'user', content: 'x' }];
    const counted = await gateway.post('/messages/count_tokens', {
      model: MODELS[0],
      models: MODELS,
      messages,
    });
    expect(counted.status).toBe(200);
    expect(upstream.requests).toHaveLength(8);
  });
});

describe('a caller that leaves in the middle of a non-streaming answer', () => {
  it('is recorded as an abort, not as a failure', async () => {
    upstream.answer([head(200, JSON_TYPE), write('{"id":"u","choi'), never()]);
    const before = gateway.logged('generation').length;
    const aborting = new AbortController();
    const asked = ask({}, { signal: aborting.signal }).catch(() => {});
    await upstream.request(0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    aborting.abort();
    await asked;
    await expect.poll(() => gateway.logged('generation').length).toBe(before + 1);
    expect(gateway.logged('generation').at(-1)).toMatchObject({ outcome: 'aborted' });
  });
});

describe('an error', () => {
  const long = 'k'.repeat(1_000_000);
  it.each([
    { model: long },
    { provider: { [long]: 1 } },
    { tools: [{ type: `signalbox:${long}` }] },
    { tools: [], tool_choice: { type: 'function', function: { name: long } } },
    { messages: [{ role: 'user', content: [{ type: long }] }] },
  ])('does not repeat long input of a caller (%#)', async (body) => {
    const refused = await ask(body);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect((await refused.text()).length).toBeLessThan(2000);
  });

  it.each([400, 401, 422, 429, 200])(
    'of an upstream with status %i never shows its key, however it is written',
    async (status) => {
      const unicode = Array.from(SECRET, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(
        '',
      );
      for (const written of [unicode, unicode.replaceAll('\\', '\\\\'), SECRET.replace('/', '\\/')]) {
        upstream.clear();
        const body = `{"error":{"message":"bad key: ${written}","code":"x${written}","param":"${written}"}}`;
        upstream.answer(reply(status, body));
        const text = await (await ask()).text();
        expect(JSON.stringify(JSON.parse(text))).not.toContain(written.slice(0, 12));
        expect(text).not.toContain('CANARY');
      }
    },
  );

  it('says what is wrong with an answer in a whole sentence', async () => {
    upstream.answer(reply(200, `{"choices":${'['.repeat(100)}${']'.repeat(100)}}`));
    const { error } = (await (await ask()).json()) as { error: { message: string } };
    expect(error.message).toBe(
      'Provider returned error: the answer is not acceptable: nested deeper than 64 levels',
    );
  });
});

describe('the reason that an upstream gives for an end', () => {
  it('is passed on without its key', async () => {
    upstream.answer(chatAnswer({ text: 'Hello' }));
    expect((await ask()).status).toBe(200);
    upstream.clear();
    const choice = { index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' };
    upstream.answer(reply(200, { choices: [{ ...choice, native_finish_reason: `because ${SECRET}` }] }));
    const text = await (await ask()).text();
    expect(text).toContain('because [redacted]');
    expect(text).not.toContain('CANARY');
  });
});
