import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';
import { searchingWith } from './search-engine.ts';
import { lastToolResult } from './tool-gateway.ts';

/** Models of which some endpoints run hosted tools themselves, and some do not. */

const PAGE = { url: 'https://words.test/today', title: 'Words', content: 'The word is heliotrope.' };
const CALL = { name: 'web_search', arguments: '{"query":"word"}', id: 'call_a' };
const SEARCH = {
  responses: { type: 'web_search' },
  messages: { type: 'web_search_20250305', name: 'web_search' },
};
const QUESTION = {
  responses: { input: 'What is it?' },
  messages: { max_tokens: 99, messages: [{ role: 'user', content: 'What is it?' }] },
};
const ANSWER = { responses: responsesAnswer, messages: messagesAnswer };

let gateway: TestGateway;
let engine: FakeUpstream;
let native: FakeUpstream;
let plain: FakeUpstream;

beforeAll(async () => {
  [engine, native, plain] = await Promise.all([openFakeUpstream(), openFakeUpstream(), openFakeUpstream()]);
  const provider = (slug: string, dialect: string, { url }: FakeUpstream) => ({
    slug,
    dialect,
    base_url: url,
    api_key: 'k',
  });
  const model = (id: string, ...providers: string[]) => ({
    id,
    endpoints: providers.map((slug) => ({ provider: slug, model: 'one' })),
  });
  gateway = await openTestGateway({
    providers: [
      provider('responder', 'openai-responses', native),
      provider('messenger', 'anthropic-messages', native),
      provider('chatter', 'openai-chat', plain),
      { slug: 'groq', base_url: plain.url, api_key: 'k' },
    ],
    models: [
      model('m/responses', 'responder', 'chatter'),
      model('m/messages', 'messenger', 'chatter'),
      { id: 'm/oss', endpoints: [{ provider: 'groq', model: 'openai/gpt-oss-20b' }] },
      { id: 'm/llama', endpoints: [{ provider: 'groq', model: 'llama-3.1-8b-instant' }] },
    ],
    tools: { sandbox: { url: 'http://127.0.0.1:9' } },
    ...searchingWith(engine),
  } as never);
});
beforeEach(() => {
  for (const fake of [engine, native, plain]) fake.clear();
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([engine, native, plain].map((fake) => fake.close()));
});

const post = (format: keyof typeof SEARCH, order: readonly string[], more: object = {}) =>
  gateway.post(
    `/${format}`,
    { model: `m/${format}`, ...QUESTION[format], tools: [SEARCH[format]], provider: { order }, ...more },
    { 'x-signalbox-metadata': 'enabled' },
  );

const nativeOf = { responses: 'responder', messages: 'messenger' } as const;

describe.each(['responses', 'messages'] as const)('a search of the %s format', (format) => {
  it('goes to the endpoint that runs it, as it is', async () => {
    native.answer(ANSWER[format]({ text: 'Found.' }));
    const response = await post(format, [nativeOf[format], 'chatter']);
    expect(response.status).toBe(200);
    expect(native.requests[0]?.json.tools).toEqual([SEARCH[format]]);
    expect([plain.requests, engine.requests]).toEqual([[], []]);
  });

  it.each([false, true])('runs here after a fallback to one that does not (stream: %s)', async (stream) => {
    native.answer(reply(500, {}));
    engine.answer(reply(200, { results: [PAGE] }));
    plain.answer(chatAnswer({ tools: [CALL] }));
    plain.answer(chatAnswer({ text: 'Y' }));
    const response = await post(format, [nativeOf[format], 'chatter'], { stream });
    const text = stream ? JSON.stringify(await readEvents(response)) : await response.text();
    expect(text).toMatch(/"Y"/);
    expect(text).not.toContain('"dropped"');
    expect(plain.requests[0]?.json.tools).toMatchObject([
      { type: 'function', function: { name: 'web_search' } },
    ]);
    expect(lastToolResult(plain.requests[1])).toEqual({ results: [PAGE] });
  });

  it('runs here if an endpoint that does not run it comes first', async () => {
    engine.answer(reply(200, { results: [PAGE] }));
    plain.answer(chatAnswer({ tools: [CALL] }));
    plain.answer(reply(500, {}));
    native.answer(ANSWER[format]({ text: 'Y' }));
    const response = await post(format, ['chatter', nativeOf[format]]);
    expect(await response.text()).toMatch(/"Y"/);
    // The other endpoint goes on with its own search, and has the result of ours.
    expect(native.requests[0]?.json.tools).toEqual([SEARCH[format]]);
    expect(JSON.stringify(native.requests[0]?.json)).toContain('heliotrope');
  });

  it('that is chosen is chosen at both', async () => {
    native.answer(reply(500, {}));
    plain.answer(chatAnswer({ text: 'Hm.' }));
    const choice = format === 'responses' ? { type: 'web_search' } : { type: 'tool', name: 'web_search' };
    await post(format, [nativeOf[format], 'chatter'], { tool_choice: choice });
    expect(native.requests[0]?.json.tool_choice).toEqual(choice);
    expect(plain.requests[0]?.json.tool_choice).toEqual({
      type: 'function',
      function: { name: 'web_search' },
    });
  });
});

describe('a hosted tool of a chat upstream', () => {
  const ask = (model: string) =>
    gateway.post('/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
    });

  it('is left to the models for which the provider runs it', async () => {
    plain.answer(chatAnswer({ text: 'Hm.' }));
    await ask('m/oss');
    expect(plain.requests[0]?.json.tools).toMatchObject([{ type: 'code_interpreter' }]);
  });

  it('runs here for its other models', async () => {
    plain.answer(chatAnswer({ text: 'Hm.' }));
    await ask('m/llama');
    expect(plain.requests[0]?.json.tools).toMatchObject([
      { type: 'function', function: { name: 'code_interpreter' } },
    ]);
  });
});
