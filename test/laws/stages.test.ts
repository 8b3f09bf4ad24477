import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../e2e/harness.ts';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../fakes/fake-upstream.ts';

/** A stage that touches nothing is no stage, byte for byte: the response cache, on its way to keep an answer, is one. */

let upstream: FakeUpstream;
let gateway: TestGateway;

const FORMATS = {
  chat: { dialect: 'openai-chat', path: '/chat/completions', answer: chatAnswer },
  responses: { dialect: 'openai-responses', path: '/responses', answer: responsesAnswer },
  messages: { dialect: 'anthropic-messages', path: '/messages', answer: messagesAnswer },
};

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: Object.entries(FORMATS).map(([slug, { dialect }]) => ({
      slug,
      name: slug,
      dialect,
      base_url: upstream.url,
    })),
    models: Object.keys(FORMATS).map((slug) => ({
      id: `m/${slug}`,
      endpoints: [{ provider: slug, model: 'one', pricing: { prompt: '0.000001', completion: '0.000002' } }],
    })),
  } as never);
});
beforeEach(() => upstream.clear());
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** What is of the moment: ids that the gateway makes, and times. */
const timeless = (text: string, id: string | null) => {
  const [, seconds = '', token = ''] = (id ?? '').split('-');
  return text
    .replaceAll(token, 'TOKEN')
    .replaceAll(seconds, 'SECONDS')
    .replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0');
};

const cases = Object.keys(FORMATS).flatMap((format) =>
  Object.keys(FORMATS).flatMap((dialect) =>
    [false, true].map((stream) => [format, dialect, stream] as const),
  ),
);

it.each(cases)('%s to %s, stream: %s', async (format, dialect, stream) => {
  const { path } = FORMATS[format as keyof typeof FORMATS];
  const { answer } = FORMATS[dialect as keyof typeof FORMATS];
  upstream.answer(
    answer({
      text: 'said in three pieces, ü',
      reasoning: 'thought about it',
      tools: [{ name: 'look', arguments: '{"a": 1}', id: 'call_1' }],
    }),
  );
  const messages = [{ role: 'user', content: 'x' }];
  const body = {
    model: `m/${dialect}`,
    stream,
    ...(format === 'responses' ? { input: 'x', store: false } : { messages, max_tokens: 99 }),
  };
  const told = [];
  for (const headers of [{}, { 'x-signalbox-cache': 'true' }]) {
    const response = await gateway.post(path, body, headers as Record<string, string>);
    expect(response.status).toBe(200);
    told.push(timeless(await response.text(), response.headers.get('x-generation-id')));
  }
  expect(told[1]).toBe(told[0]);
  const [first, second] = upstream.requests;
  expect(second?.body).toEqual(first?.body);
});
