import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PRICE_NAMES, type PriceName } from '../../src/config/schema/price-names.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  write,
} from '../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../kit/gateway-harness.ts';

/** Prices that the configuration refuses: they would change no charge. */
const REFUSED: ReadonlySet<PriceName> = new Set(['discount']);

const CHARGED = PRICE_NAMES.filter((name) => !REFUSED.has(name));

/** Higher than a nano-dollar for the smallest count below. */
const PRICE = 0.000004;

/** Where a price may stand in the configuration, with the endpoint's other members. */
const PLACES: Readonly<Record<string, (name: PriceName, price: string) => object>> = {
  pricing: (name, price) => ({ pricing: { [name]: price } }),
  overrides: (name, price) => ({ pricing: { overrides: [{ min_prompt_tokens: 1, [name]: price }] } }),
  'dated prices': (name, price) => ({
    pricing: {},
    prices: [{ from: '2020-01-01', pricing: { [name]: price } }],
  }),
};

/** Answers in which something of every price is counted, by format. */
const ANSWERS = {
  '/responses': {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'one',
    output: [
      { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
      { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: [] },
      { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', container_id: 'cntr_1', code: '1' },
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' },
    ],
    tool_usage: { image_gen: { input_tokens: 90, output_tokens: 1000 } },
    usage: {
      input_tokens: 2000,
      input_tokens_details: {
        cached_tokens: 300,
        cache_write_tokens: 200,
        audio_tokens: 400,
        image_tokens: 100,
        cached_tokens_details: { audio_tokens: 50 },
      },
      output_tokens: 900,
      output_tokens_details: { reasoning_tokens: 100, image_tokens: 70, audio_tokens: 60 },
      total_tokens: 2900,
      server_side_tool_usage_details: { web_search_calls: 1, x_search_calls: 2 },
    },
  },
  '/messages': {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'one',
    content: [{ type: 'text', text: 'done' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: 10,
      output_tokens: 10,
      cache_creation_input_tokens: 500,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 500 },
    },
  },
} as const;

type Path = keyof typeof ANSWERS;

/** Prices that only upstreams of the messages dialect report something for. */
const OF_MESSAGES: ReadonlySet<PriceName> = new Set(['input_cache_write_1h']);

const pathOf = (name: PriceName): Path => (OF_MESSAGES.has(name) ? '/messages' : '/responses');

const PICTURE = 'data:image/png;base64,iVBORw0KGgo=';

const BODIES = {
  '/responses': {
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look, search and draw' },
          { type: 'input_image', image_url: PICTURE, detail: 'low' },
        ],
      },
    ],
    tools: [
      { type: 'web_search' },
      { type: 'x_search' },
      { type: 'file_search', vector_store_ids: ['vs_1'] },
      { type: 'code_interpreter', container: { type: 'auto' } },
      { type: 'image_generation' },
    ],
  },
  '/messages': { max_tokens: 50, messages: [{ role: 'user', content: 'Remember' }] },
} as const;

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const endpoint = (name: PriceName, more: object) => ({
    provider: pathOf(name) === '/messages' ? 'messenger' : 'responder',
    model: 'one',
    ...more,
  });
  gateway = await openTestGateway({
    providers: [
      { slug: 'responder', dialect: 'openai-responses', base_url: upstream.url, api_key: 'k' },
      { slug: 'messenger', dialect: 'anthropic-messages', base_url: upstream.url, api_key: 'k' },
    ],
    models: CHARGED.flatMap((name) =>
      Object.values(PLACES).flatMap((place, at) =>
        [1, 3].map((times) => ({
          id: `m/${name}-${at}-${times}`,
          input_modalities: ['text', 'image'],
          context_length: 200_000,
          endpoints: [endpoint(name, place(name, (PRICE * times).toFixed(9)))],
        })),
      ),
    ),
  } as never);
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function charge(name: PriceName, model: string): Promise<number> {
  const path = pathOf(name);
  upstream.clear();
  upstream.answer([head(200, JSON_TYPE), write(JSON.stringify(ANSWERS[path])), end()]);
  const response = await gateway.post(path, { model, ...BODIES[path] });
  const answer = (await response.json()) as any;
  expect([response.status, answer.error ?? null]).toEqual([200, null]);
  const { data } = (await (
    await gateway.fetch(`/generation?id=${response.headers.get('x-generation-id')}`)
  ).json()) as any;
  expect(data.prices.map((price: any) => price.name)).toContain(name);
  return data.total_cost;
}

describe('law: every price that the configuration takes changes a charge', () => {
  it.each(CHARGED)('%s', async (name) => {
    for (const at of Object.keys(PLACES).keys()) {
      const once = await charge(name, `m/${name}-${at}-1`);
      expect(once).toBeGreaterThan(0);
      expect(await charge(name, `m/${name}-${at}-3`)).toBeCloseTo(once * 3, 9);
    }
  });
});
