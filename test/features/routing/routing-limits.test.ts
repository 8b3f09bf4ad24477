import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const provider = (slug: string) => ({ slug, name: slug, dialect: 'openai-chat', base_url: upstream.url });
  gateway = await openTestGateway({
    providers: [provider('small'), provider('big')],
    models: [
      {
        id: 'up/two',
        endpoints: [
          { provider: 'small', model: 'small', max_output_tokens: 100 },
          { provider: 'big', model: 'big', max_output_tokens: 5000 },
        ],
      },
      { id: 'up/narrow', context_length: 100, endpoints: [{ provider: 'small', model: 'narrow' }] },
      {
        id: 'up/capped',
        context_length: 100,
        max_output_tokens: 50,
        endpoints: [{ provider: 'small', model: 'capped' }],
      },
      {
        id: 'up/eyes',
        input_modalities: ['text', 'image'],
        endpoints: [{ provider: 'small', model: 'eyes', pricing: { image: '0.001' } }],
      },
    ],
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

const ask = async (body: object) => {
  const response = await gateway.post(
    '/responses',
    { input: 'Hi', ...body },
    { 'X-Signalbox-Metadata': 'enabled' },
  );
  return { status: response.status, body: (await response.json()) as any };
};
const sent = async () => (await upstream.request(0)).json;

describe('the output that is asked for', () => {
  it('rules out endpoints that write less, and names them', async () => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { body } = await ask({ model: 'up/two', max_output_tokens: 3000 });
    expect(await sent()).toMatchObject({ model: 'big', max_tokens: 3000 });
    expect(body.signalbox_metadata.endpoints).toMatchObject({
      total: 2,
      available: [{ provider: 'big', selected: true }],
      rejected: [{ provider: 'small', filter: 'max_output_tokens' }],
    });
    expect(body.signalbox_metadata.translation).toBeUndefined();
  });

  it('is lowered, and reported, if no endpoint writes as much', async () => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { body } = await ask({ model: 'up/two', max_output_tokens: 9000 });
    expect(await sent()).toMatchObject({ model: 'big', max_tokens: 5000 });
    expect(body.signalbox_metadata.translation).toMatchObject([
      { field: 'max_output_tokens', action: 'coerced' },
    ]);
  });
});

describe('the context', () => {
  it.each([
    ['the requested output', { max_output_tokens: 200 }, /200 of output\)/],
    ['the prompt', { input: 'one two three '.repeat(100) }, /However, you requested about/],
  ])('is too small for %s: 400 with the routing context', async (_, change, message) => {
    const { status, body } = await ask({ model: 'up/narrow', ...change });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      message: expect.stringMatching(message),
      metadata: { error_type: 'context_length_exceeded' },
    });
    expect(body.signalbox_metadata).toMatchObject({
      requested: 'up/narrow',
      strategy: 'direct',
      attempt: 0,
      endpoints: { total: 1, available: [], rejected: [{ provider: 'small', filter: 'context_length' }] },
    });
    expect(upstream.requests).toHaveLength(0);
  });

  it('has to hold no more output than the endpoint writes', async () => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    expect((await ask({ model: 'up/capped', max_output_tokens: 200 })).status).toBe(200);
    expect(await sent()).toMatchObject({ max_tokens: 50 });
  });

  it('of the next model serves, with the reason why the first did not', async () => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { body } = await ask({ models: ['up/narrow', 'up/two'], max_output_tokens: 100 });
    expect(body.model).toBe('up/two');
    expect(body.signalbox_metadata.endpoints.rejected).toMatchObject([{ filter: 'context_length' }]);
  });
});

it('charges for each image of the prompt', async () => {
  upstream.answer(chatAnswer({ text: 'ok', usage: { input: 10, output: 1 } }));
  const image = { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'auto' };
  const { body } = await ask({
    model: 'up/eyes',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Compare' }, image, image] },
      { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: [image] },
    ],
  });
  expect(body.usage.cost).toBe(0.003);
  expect(body.usage.cost_details).toMatchObject({ upstream_inference_input_cost: 0.003 });
});

it.each([
  ['signalbox/bodybuilder:floor', '"signalbox/bodybuilder" is not available'],
  ['up/two:nitro:fast', 'up/two:nitro:fast is not a valid model ID'],
  ['no/such:nitro', 'no/such:nitro is not a valid model ID'],
])('says of the model %s: %s', async (model, message) => {
  const { status, body } = await ask({ model });
  expect(status).toBe(400);
  expect(body.error.message).toContain(message);
});
