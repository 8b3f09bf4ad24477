import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { messagesFrames, sse } from '../../kit/fakes/answers.ts';
import { end, type FakeUpstream, head, openFakeUpstream, SSE, write } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: [{ slug: 'acme', name: 'Acme', dialect: 'anthropic-messages', base_url: upstream.url }],
    models: [
      { id: 'm/one', endpoints: [{ provider: 'acme', model: 'one', pricing: { completion: '0.00001' } }] },
      { id: 'm/wise', endpoints: [{ provider: 'acme', model: 'wise', pricing: { completion: '0.0001' } }] },
    ],
  } as never);
});

beforeEach(() => upstream.clear());

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const TEXT = 'one two three four five six seven eight nine ten';

/** A stream that reports one output token at its start, as upstreams do, and the given usage at its end. */
function answering(usage: unknown) {
  const frames = messagesFrames({ text: TEXT }).map(({ event, data }) => {
    if (event === 'message_start') {
      const { message } = data as { message: object };
      return {
        event,
        data: { ...(data as object), message: { ...message, usage: { input_tokens: 10, output_tokens: 1 } } },
      };
    }
    return event === 'message_delta' ? { event, data: { ...(data as object), usage } } : { event, data };
  });
  return [head(200, SSE), write(sse(frames)), end()];
}

/** Streams an answer to its end and gives what was recorded of it. */
async function recorded(path: string, more: object = {}) {
  const response = await gateway.post(path, {
    model: 'm/one',
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content: 'Hi' }],
    ...more,
  });
  await response.text();
  const id = response.headers.get('x-generation-id');
  return ((await (await gateway.fetch(`/generation?id=${id}`)).json()) as any).data;
}

it.each([undefined, null, {}, 'x', { output_tokens: -3 }, { output_tokens: null }, { output_tokens: 1e30 }])(
  'is not charged for the one token that it began with when it ends with %j',
  async (usage) => {
    for (const path of ['/messages', '/chat/completions']) {
      upstream.answer(answering(usage));
      const data = await recorded(path);
      expect(data).toMatchObject({ tokens_prompt: 10, tokens_completion: 10, usage_source: 'estimated' });
      expect(data.usage).toBeCloseTo(0.0001, 9);
    }
  },
);

it('is accepted if it ends with a count', async () => {
  upstream.answer(answering({ output_tokens: 7 }));
  const data = await recorded('/messages');
  expect(data).toMatchObject({ tokens_prompt: 10, tokens_completion: 7, usage_source: 'measured' });
});

it('prices what the upstream asked another model at that model, and says where the price is a guess', async () => {
  const usageOf = (...iterations: object[]) => ({ input_tokens: 100, output_tokens: 10, iterations });
  const advice = (model: string) => ({
    type: 'advisor_message',
    model,
    input_tokens: 1000,
    output_tokens: 100,
  });
  upstream.answer(
    answering(usageOf({ type: 'message', input_tokens: 100, output_tokens: 10 }, advice('wise'))),
  );
  const tools = [{ type: 'advisor_20260301', name: 'advisor', model: 'wise' }];
  const known = await recorded('/messages', { tools });
  expect(known).toMatchObject({ tokens_prompt: 100, tokens_completion: 10, usage_source: 'measured' });
  expect(known.total_cost).toBeCloseTo(10 * 0.00001 + 100 * 0.0001, 9);
  upstream.clear();
  upstream.answer(answering(usageOf(advice('nameless'))));
  expect(await recorded('/messages', { tools })).toMatchObject({
    tokens_completion: 10,
    usage_source: 'estimated',
  });
  upstream.clear();
  const fallback = { type: 'fallback_message', model: 'wise', input_tokens: 100, output_tokens: 10 };
  upstream.answer(answering(usageOf({ type: 'message', input_tokens: 98, output_tokens: 3 }, fallback)));
  const served = await recorded('/messages', { fallbacks: 'default' });
  expect(served).toMatchObject({ tokens_prompt: 100, tokens_completion: 10, usage_source: 'measured' });
  expect(served.total_cost).toBeCloseTo(10 * 0.0001, 9);
});

it('charges for no other model that the request has not asked for, and for no more than can be true', async () => {
  const fallback = { type: 'fallback_message', model: 'wise', input_tokens: 100, output_tokens: 10 };
  const advice = { type: 'advisor_message', model: 'wise', input_tokens: 1e9, output_tokens: 1e9 };
  const usage = { input_tokens: 100, output_tokens: 10, iterations: [fallback, advice, advice, advice] };
  upstream.answer(answering(usage));
  for (const path of ['/messages', '/chat/completions']) {
    const { total_cost: charged, write_offs: parts } = await recorded(path);
    expect(charged).toBeCloseTo(0.0001, 9);
    expect(parts).toMatchObject([{ cause: 'disputed' }]);
  }
  const tools = [{ type: 'advisor_20260301', name: 'advisor', model: 'wise' }];
  expect((await recorded('/messages', { tools })).total_cost).toBeCloseTo(0.0001, 9);
});
