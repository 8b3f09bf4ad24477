import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Stage } from '../../src/stages/stage.ts';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../kit/gateway-harness.ts';

/**
 * A stage that touches nothing is no stage, byte for byte and on the relay lane: the response cache, on its way to
 * keep an answer, is one, and so is one that runs the leg and passes on what it says.
 */

let upstream: FakeUpstream;
let gateway: TestGateway;
let passing: TestGateway;

const identity: Stage = {
  name: 'identity',
  touches: 'nothing',
  isActive: () => true,
  around: (request, next) => next(request),
};

const FORMATS = {
  chat: { dialect: 'openai-chat', path: '/chat/completions', answer: chatAnswer },
  responses: { dialect: 'openai-responses', path: '/responses', answer: responsesAnswer },
  messages: { dialect: 'anthropic-messages', path: '/messages', answer: messagesAnswer },
};

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const config = {
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
  } as never;
  gateway = await openTestGateway(config);
  passing = await openTestGateway(config, { stages: [identity] });
});
beforeEach(() => upstream.clear());
afterAll(async () => {
  await gateway.close();
  await passing.close();
  await upstream.close();
});

/** What differs from run to run: ids that the gateway makes, and times. */
const timeless = (text: string, id: string | null) => {
  const [, seconds = '', token = ''] = (id ?? '').split('-');
  return text
    .replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0')
    .replaceAll(token, 'TOKEN')
    .replaceAll(seconds, 'SECONDS');
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
  const ways = [
    { through: gateway, headers: {} },
    { through: gateway, headers: { 'x-signalbox-cache': 'true' } },
    { through: passing, headers: {} },
  ];
  const lanes = [];
  for (const { through, headers } of ways) {
    const response = await through.post(path, body, headers as Record<string, string>);
    expect(response.status).toBe(200);
    told.push(timeless(await response.text(), response.headers.get('x-generation-id')));
    lanes.push(through.logged('generation').at(-1)?.lane);
  }
  expect(told[1]).toBe(told[0]);
  expect(told[2]).toBe(told[0]);
  expect(new Set(lanes)).toEqual(new Set([format === dialect ? 'relay' : 'translate']));
  const [first, ...others] = upstream.requests;
  for (const other of others) expect(other.body).toEqual(first?.body);
});
