import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { messagesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/* The reasoning facts of the catalogue decide which reasoning settings a model gets. */

const endpoints = [{ provider: 'simulator', model: 'reasoning' }];
const METADATA = { 'x-signalbox-metadata': 'enabled' };

let gateway: TestGateway;
let upstream: FakeUpstream;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: [
      { slug: 'simulator' },
      { slug: 'claude', dialect: 'anthropic-messages', base_url: upstream.url, api_key: 'k' },
    ],
    models: [
      {
        id: 'acme/thinker-1',
        aliases: ['~acme/thinker-latest'],
        created: '2026-05-01',
        knowledge_cutoff: '2026-01',
        reasoning: { mandatory: true, supported_efforts: ['low', 'high'], default_effort: 'high' },
        endpoints,
      },
      { id: 'acme/other', reasoning: { mandatory: false }, endpoints },
      {
        id: 'acme/adaptive',
        reasoning: {
          mandatory: false,
          supports_max_tokens: false,
          supported_efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
        },
        endpoints: [{ provider: 'claude', model: 'm' }],
      },
    ],
  });
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

interface Answer {
  readonly model?: string;
  readonly error?: { readonly message: string };
  readonly signalbox_metadata?: {
    readonly translation?: readonly object[];
    readonly endpoints: { readonly rejected?: readonly { filter: string; reason: string }[] };
  };
}

async function ask(body: object, path = '/responses'): Promise<[number, Answer]> {
  const reply = await gateway.post(path, { input: 'Hello', ...body }, METADATA);
  return [reply.status, (await reply.json()) as Answer];
}

describe('a model that always reasons', () => {
  it.each([
    ['/responses', { reasoning: { effort: 'none' } }, 'reasoning.effort'],
    ['/responses', { reasoning: { enabled: false } }, 'reasoning.enabled'],
    [
      '/chat/completions',
      { messages: [{ role: 'user', content: 'Hello' }], reasoning_effort: 'none' },
      'reasoning_effort',
    ],
  ])('refuses a request to switch it off: %s %j', async (path, body, place) => {
    const [status, { error }] = await ask({ model: 'acme/thinker-1', ...body }, path);
    expect(status).toBe(400);
    expect(error?.message).toBe(
      `${place}: acme/thinker-1 always thinks and cannot be told not to; its least effort is low`,
    );
  });

  it('gets its least effort if requested as the newest of a family, with a report entry', async () => {
    const [status, answer] = await ask({ model: '~acme/thinker-latest', reasoning: { effort: 'none' } });
    expect(status).toBe(200);
    expect(answer.signalbox_metadata?.translation).toEqual([
      {
        field: 'reasoning.effort',
        action: 'coerced',
        detail: 'the model always thinks: effort low is sent',
      },
    ]);
  });

  it('takes the default of the messages format', async () => {
    const body = {
      model: 'acme/thinker-1',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello' }],
      thinking: { type: 'disabled' },
    };
    const reply = await gateway.post('/messages', body, METADATA);
    expect(reply.status).toBe(200);
    expect(((await reply.json()) as Answer).signalbox_metadata?.translation).toMatchObject([
      { field: 'thinking.type', action: 'coerced' },
    ]);
  });

  it('is skipped, with the reason, if another model can serve', async () => {
    const [status, { model, signalbox_metadata: metadata }] = await ask({
      models: ['acme/thinker-1', 'acme/other'],
      reasoning: { effort: 'none' },
    });
    expect([status, model]).toEqual([200, 'acme/other']);
    expect(metadata?.endpoints.rejected).toMatchObject([
      { filter: 'reasoning', reason: expect.stringContaining('acme/thinker-1 always thinks') },
    ]);
  });

  it('gets the nearest of its efforts', async () => {
    const [status, answer] = await ask({ model: 'acme/thinker-1', reasoning: { effort: 'xhigh' } });
    expect(status).toBe(200);
    expect(answer.signalbox_metadata?.translation).toEqual([
      {
        field: 'reasoning.effort',
        action: 'coerced',
        detail: 'the model has no effort xhigh: high is sent',
      },
    ]);
    const [, plain] = await ask({ model: 'acme/thinker-1', reasoning: { effort: 'low' } });
    expect(plain.signalbox_metadata?.translation).toBeUndefined();
  });
});

describe('a model that takes no budget', () => {
  const input = 'Hello';
  const messages = [{ role: 'user', content: input }];
  const ADAPTIVE = { type: 'adaptive', display: 'summarized' };

  it.each<[string, JsonObject, JsonObject, string[]]>([
    ['/responses', { input, reasoning: { effort: 'high' } }, { thinking: ADAPTIVE, effort: 'high' }, []],
    [
      '/responses',
      { input, reasoning: { max_tokens: 2000 }, max_output_tokens: 4000 },
      { thinking: ADAPTIVE, effort: 'medium' },
      ['reasoning.max_tokens coerced'],
    ],
    [
      '/chat/completions',
      { messages, reasoning_effort: 'minimal' },
      { thinking: ADAPTIVE, effort: 'low' },
      ['reasoning_effort coerced'],
    ],
    [
      '/messages',
      { messages, max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 3000 } },
      { thinking: { type: 'adaptive' }, effort: 'high' },
      ['thinking.budget_tokens coerced'],
    ],
    [
      '/messages',
      {
        messages,
        max_tokens: 4000,
        thinking: { type: 'enabled', budget_tokens: 3000 },
        output_config: { effort: 'low' },
      },
      { thinking: { type: 'adaptive' }, effort: 'low' },
      ['thinking.budget_tokens dropped'],
    ],
  ])('gets adaptive thinking, with an effort: %s %j', async (path, body, expected, entries) => {
    upstream.clear();
    upstream.answer(messagesAnswer({ text: 'ok' }));
    const reply = await gateway.post(path, { model: 'acme/adaptive', ...body }, METADATA);
    expect(reply.status).toBe(200);
    const answer = (await reply.json()) as Answer;
    expect((await upstream.request(0)).json).toMatchObject({
      thinking: expected.thinking,
      output_config: { effort: expected.effort },
    });
    const report = (answer.signalbox_metadata?.translation ?? []) as { field: string; action: string }[];
    expect(report.map(({ field, action }) => `${field} ${action}`)).toEqual(entries);
  });
});

it('GET /models shows the reasoning facts of a model, its release and its knowledge cutoff', async () => {
  const { data } = (await (await gateway.fetch('/model/acme/thinker-1')).json()) as { data: object };
  expect(data).toMatchObject({
    created: Date.parse('2026-05-01') / 1000,
    knowledge_cutoff: '2026-01',
    reasoning: { mandatory: true, default_effort: 'high', supported_efforts: ['low', 'high'] },
  });
});
