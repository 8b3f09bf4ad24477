import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chat } from '../../../src/dialects/chat/index.ts';
import type { InboundDialect } from '../../../src/dialects/dialect.ts';
import { DIALECTS } from '../../../src/dialects/dialects.ts';
import type { Lane } from '../../../src/dialects/lane.ts';
import { messages } from '../../../src/dialects/messages/index.ts';
import { responses } from '../../../src/dialects/responses/index.ts';
import { fold } from '../../../src/ir/folding/fold.ts';
import type { Format } from '../../../src/ir/items.ts';
import type { Result } from '../../../src/ir/result.ts';
import { randomIds } from '../../../src/kit/ids.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { MemoryBudget } from '../../../src/kit/loop/memory-budget.ts';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { createNetworkTransport } from '../../../src/net/transport/transport.ts';
import { createAuthorize } from '../../../src/upstream/auth/authorize.ts';
import { createCallUpstream } from '../../../src/upstream/call/call.ts';
import { type AnswerContent, chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, type Script } from '../../kit/fakes/fake-upstream.ts';

/** The ready-made answers over real sockets through the real dialects: what goes in comes out. */

const inbound: Record<Format, InboundDialect> = {
  responses: responses.inbound,
  messages: messages.inbound,
  chat: chat.inbound,
};
const answers: Record<Format, (content: AnswerContent) => Script> = {
  responses: responsesAnswer,
  messages: messagesAnswer,
  chat: chatAnswer,
};

const network = createNetworkTransport();
const callUpstream = createCallUpstream({
  largeAnswers: new MemoryBudget(() => Number.POSITIVE_INFINITY),
  transports: { network, simulator: network },
  dialects: DIALECTS,
  authorize: createAuthorize({ transport: network, clock: systemClock }),
  clock: systemClock,
  ids: randomIds,
});
let upstream: FakeUpstream;

beforeAll(async () => {
  upstream = await openFakeUpstream();
});
beforeEach(() => upstream.clear());
afterAll(async () => {
  await network.close();
  await upstream.close();
});

const BODIES: Record<Format, JsonObject> = {
  responses: { model: 'acme/large', input: 'Hello' },
  messages: { model: 'acme/large', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
  chat: { model: 'acme/large', messages: [{ role: 'user', content: 'Hello' }] },
};

async function ask(format: Format, lane: Lane, stream: boolean): Promise<Result> {
  const answer = await callUpstream({
    request: inbound[format].parseRequest({ ...BODIES[format], stream }, { vendor: 'signalbox' }),
    lane,
    credential: { kind: 'key', key: 'sk-acme' },
    hashUser: (id) => id,
    signal: new AbortController().signal,
    endpoint: {
      provider: {
        slug: 'acme',
        name: 'Acme',
        dialect: format,
        baseUrl: upstream.url,
        headers: {},
        auth: 'bearer',
        dataPolicy: undefined,
        // Only the limit of the test ends the waiting: on a busy machine single bytes take long.
        timeouts: { connect: 600_000, firstByte: 600_000, idle: 600_000, total: 600_000 },
        quirks: {},
        isPublic: false,
      },
      modelId: 'acme/large',
      upstreamModel: 'large-v1',
      tag: 'acme',
      site: 'site',
      quantization: undefined,
      contextLength: undefined,
      maxOutputTokens: undefined,
      supportedParameters: undefined,
      pricing: {},
    },
  });
  const batches = [];
  for await (const batch of answer.batches) batches.push(batch);
  return fold(batches.flat());
}

const ways = (['responses', 'messages', 'chat'] as const).flatMap((format) =>
  (['relay', 'translate'] as const).flatMap((lane) =>
    [true, false].map((stream) => ({ format, lane, stream })),
  ),
);

const FULL: AnswerContent = {
  text: 'Grüße aus Zürich 🚂 "quoted" \\ and\nnew line',
  reasoning: 'Let me think about trains.',
  tools: [
    { name: 'get_weather', arguments: '{"city":"Zürich"}' },
    { name: 'get_time', arguments: '{"zone":"CET"}' },
  ],
  usage: { input: 120, output: 45, cached: 100 },
};

describe.each(ways)('$format, $lane lane, stream $stream', ({ format, lane, stream }) => {
  it.each([
    ['in one piece', []],
    ['byte by byte', 'bytes'],
  ] as const)('reads everything, %s', async (_, split) => {
    upstream.answer(answers[format]({ ...FULL, split }));
    const result = await ask(format, lane, stream);
    expect(result.failure).toBeUndefined();
    expect(result.finish?.reason).toBe('tool-calls');
    expect(result.usage).toMatchObject({ inputTokens: 120, outputTokens: 45, cachedTokens: 100 });
    const texts = result.items.flatMap((item) => (item.type === 'message' ? item.content : []));
    expect(texts).toMatchObject([{ type: 'text', text: FULL.text }]);
    const thought = result.items.find((item) => item.type === 'reasoning');
    expect([...(thought?.text ?? []), ...(thought?.summary ?? [])].join('')).toBe(FULL.reasoning);
    const calls = result.items.filter((item) => item.type === 'tool-call');
    expect(calls.map(({ name, input }) => [name, JSON.parse(input)])).toEqual([
      ['get_weather', { city: 'Zürich' }],
      ['get_time', { zone: 'CET' }],
    ]);
    expect(upstream.requests[0]?.json.model).toBe('large-v1');
  });

  it('reads a length stop', async () => {
    upstream.answer(answers[format]({ text: 'cut o', finish: 'length' }));
    expect((await ask(format, lane, stream)).finish?.reason).toBe('length');
  });
});
