import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

const DIALECTS = {
  chat: { dialect: 'openai-chat', answer: chatAnswer },
  responses: { dialect: 'openai-responses', answer: responsesAnswer },
  messages: { dialect: 'anthropic-messages', answer: messagesAnswer },
};
const MODELS = ['claude-sonnet-4-5', 'claude-opus-4-8', 'o3', 'plain-1'];

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const formats = Object.keys(DIALECTS) as (keyof typeof DIALECTS)[];
  gateway = await openTestGateway({
    providers: formats.map((format) => ({
      slug: `p-${format}`,
      dialect: DIALECTS[format].dialect,
      base_url: upstream.url,
      api_key: 'k',
    })),
    models: formats.flatMap((format) =>
      MODELS.map((model) => ({
        id: `${format}/${model}`,
        max_output_tokens: 8000,
        endpoints: [
          { provider: `p-${format}`, model, pricing: { prompt: '0.000001', completion: '0.000002' } },
        ],
      })),
    ),
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

const MESSAGES = [{ role: 'user', content: 'hi' }];
const CALLERS = {
  chat: { path: '/chat/completions', said: { messages: MESSAGES } },
  messages: { path: '/messages', said: { messages: MESSAGES, max_tokens: 5000 } },
  responses: { path: '/responses', said: { input: 'hi' } },
};

/** The sampling settings that reach a model, and the entries of the report about them. */
async function sent(caller: keyof typeof CALLERS, served: keyof typeof DIALECTS, model: string, more = {}) {
  upstream.answer(DIALECTS[served].answer({ text: 'ok' }));
  const { path, said } = CALLERS[caller];
  const body = { model: `${served}/${model}`, ...said, temperature: 0.5, top_p: 0.9, ...more };
  const response = await gateway.post(path, body, { 'X-Signalbox-Metadata': 'enabled' });
  const { signalbox_metadata } = (await response.json()) as any;
  const { temperature, top_p, top_k } = (await upstream.request(0)).json;
  const entries = (signalbox_metadata?.translation ?? []) as { field: string; action: string }[];
  return {
    status: response.status,
    settings: { temperature, top_p, top_k },
    report: entries.map(({ field, action }) => `${field} ${action}`),
  };
}

const LANES = (['chat', 'messages', 'responses'] as const).flatMap((caller) =>
  (['chat', 'messages', 'responses'] as const).map((served) => ({ caller, served })),
);

it.each(LANES)('go fitted from $caller to $served', async ({ caller, served }) => {
  expect(await sent(caller, served, 'claude-sonnet-4-5')).toEqual({
    status: 200,
    settings: { temperature: 0.5 },
    report: ['top_p dropped'],
  });
  for (const model of ['claude-opus-4-8', 'o3']) {
    upstream.clear();
    expect(await sent(caller, served, model)).toEqual({
      status: 200,
      settings: {},
      report: ['temperature dropped', 'top_p dropped'],
    });
  }
  upstream.clear();
  expect(await sent(caller, served, 'plain-1')).toEqual({
    status: 200,
    settings: { temperature: 0.5, top_p: 0.9 },
    report: [],
  });
});

it('go without those that conflict with the thinking of a relayed request', async () => {
  const thinking = { type: 'enabled', budget_tokens: 2000 };
  expect(await sent('messages', 'messages', 'plain-1', { thinking, top_k: 5 })).toEqual({
    status: 200,
    settings: {},
    report: ['temperature dropped', 'top_p dropped', 'top_k dropped'],
  });
});

it.each([{}, { tools: [{ type: 'signalbox:datetime' }] }])(
  'go without log probabilities that are asked for in a list, which keeps the rest, with %j',
  async (more) => {
    const sources = 'web_search_call.action.sources';
    const logprobs = 'message.output_text.logprobs';
    for (const { include, kept } of [
      { include: [sources, logprobs], kept: [sources] },
      { include: [logprobs], kept: undefined },
    ]) {
      upstream.clear();
      const asked = { temperature: 1, top_p: 1, include, top_logprobs: 2, ...more };
      const { report } = await sent('responses', 'responses', 'o3', asked);
      expect(report).toEqual([`include[${include.indexOf(logprobs)}] dropped`, 'top_logprobs dropped']);
      const { json } = await upstream.request(0);
      expect(json).not.toHaveProperty('top_logprobs');
      expect(json.include).toEqual(kept);
    }
    upstream.clear();
    const { report } = await sent('responses', 'responses', 'plain-1', { include: [logprobs], ...more });
    expect(report).toEqual([]);
    expect((await upstream.request(0)).json.include).toEqual([logprobs]);
  },
);
