import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from './harness.ts';

/* What the catalogue says of how models think decides what may be asked of them. */

const endpoints = [{ provider: 'simulator', model: 'reasoning' }];
const METADATA = { 'x-signalbox-metadata': 'enabled' };

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openTestGateway({
    providers: [{ slug: 'simulator' }],
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
    ],
  });
});

afterAll(() => gateway.close());

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

describe('a model that always thinks', () => {
  it.each([
    ['/responses', { reasoning: { effort: 'none' } }, 'reasoning.effort'],
    ['/responses', { reasoning: { enabled: false } }, 'reasoning.enabled'],
    [
      '/chat/completions',
      { messages: [{ role: 'user', content: 'Hello' }], reasoning_effort: 'none' },
      'reasoning_effort',
    ],
  ])('refuses to be told not to: %s %j', async (path, body, place) => {
    const [status, { error }] = await ask({ model: 'acme/thinker-1', ...body }, path);
    expect(status).toBe(400);
    expect(error?.message).toBe(
      `${place}: acme/thinker-1 always thinks and cannot be told not to; its least effort is low`,
    );
  });

  it('thinks as little as it can where it is the newest of a family, and the report says so', async () => {
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

  it('is left out, with the reason, where another can do it', async () => {
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

it('GET /models shows how a model thinks, its release and how far its knowledge reaches', async () => {
  const { data } = (await (await gateway.fetch('/model/acme/thinker-1')).json()) as { data: object };
  expect(data).toMatchObject({
    created: Date.parse('2026-05-01') / 1000,
    knowledge_cutoff: '2026-01',
    reasoning: { mandatory: true, default_effort: 'high', supported_efforts: ['low', 'high'] },
  });
});
