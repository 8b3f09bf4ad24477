import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sendCommand } from '../../../src/control/send-command.ts';
import { chatAnswer, sse } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  openFakeUpstream,
  reset,
  type Script,
  SSE,
  type Step,
  stall,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let spare: FakeUpstream;
let gateway: TestGateway;
/** Management key of a second account. */
let stranger: string;

const pricing = { prompt: '0.000001', completion: '0.000004', input_cache_read: '0.0000001' };
const failure: Script = [
  head(500, { 'content-type': 'application/json' }),
  write('{"error":{"message":"broken"}}'),
  end(),
];

beforeAll(async () => {
  upstream = await openFakeUpstream();
  spare = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: [
      {
        slug: 'acme',
        name: 'Acme',
        dialect: 'openai-chat',
        base_url: upstream.url,
        data_policy: { training: false, retains_prompts: false },
      },
      { slug: 'spare', name: 'Spare', dialect: 'openai-chat', base_url: spare.url },
      // Bills answers that are left to their end.
      { slug: 'ai21', dialect: 'openai-chat', base_url: upstream.url, api_key: 'k' },
    ],
    models: [
      {
        id: 'acme/large',
        context_length: 400_000,
        max_output_tokens: 100_000,
        endpoints: [
          { provider: 'acme', model: 'large', pricing },
          { provider: 'spare', model: 'large', pricing },
        ],
      },
      { id: 'acme/thorough', endpoints: [{ provider: 'ai21', model: 'thorough', pricing }] },
    ],
  } as never);
  const made = await sendCommand(
    { dataDir: gateway.dataDir, openAlone: () => Promise.reject(new Error('runs')), isInUse: () => false },
    'accounts.create',
    { name: 'stranger' },
  );
  stranger = made.management_key;
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
  await spare.close();
});

afterEach(() => {
  upstream.clear();
  spare.clear();
});

interface ReservationRequest {
  readonly id: string;
  readonly status: number;
  readonly body: any;
}

/** Providers in order, so that the first one is asked first. */
const ORDER = { provider: { order: ['acme', 'spare'] } };

async function generate(
  body: object = {},
  headers: Record<string, string> = {},
): Promise<ReservationRequest> {
  const response = await gateway.post(
    '/responses',
    { model: 'acme/large', input: 'Hi', ...ORDER, ...body },
    headers,
  );
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    id: response.headers.get('x-generation-id') ?? '',
    status: response.status,
    body: isJson ? JSON.parse(text) : text,
  };
}

async function get(path: string, key = gateway.apiKey): Promise<{ status: number; data: any; error: any }> {
  const response = await gateway.fetch(path, { key });
  const { data, error } = (await response.json()) as any;
  return { status: response.status, data, error };
}

const show = async (id: string, key?: string) => get(`/generation?id=${id}`, key);

/** A stream of an openai-chat upstream that reports usage only if the test asks for it. */
function longStream(deltas: readonly object[], { middle = {}, last = {} } = {}): Script {
  const chunks = deltas.map(({ usage, ...delta }: { usage?: object }, at) => ({
    choices: [{ index: 0, delta }],
    ...(usage !== undefined && { usage }),
    ...(at === deltas.length >> 1 && middle),
  }));
  const ending = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], ...last };
  return [head(200, SSE), write(sse([...chunks, ending, '[DONE]'].map((data) => ({ data })))), end()];
}

async function keepContent(settings: object): Promise<void> {
  const response = await gateway.fetch('/workspaces/default', {
    method: 'PATCH',
    key: gateway.managementKey,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(settings),
  });
  expect(response.status).toBe(200);
}

describe('GET /generation', () => {
  it('finds every generation as soon as its answer has ended, whole or streamed', async () => {
    upstream.answer(chatAnswer({ text: 'Hello', usage: { input: 1000, output: 100, cached: 400 } }));
    for (const stream of [false, true]) {
      const { id, status } = await generate(
        { stream, user: 'ada', session_id: 's-1' },
        { 'http-referer': 'https://app.example/x', 'x-title': 'App', 'x-request-id': 'mine' },
      );
      expect(status).toBe(200);
      const { status: found, data } = await show(id);
      expect(found).toBe(200);
      expect(data).toMatchObject({
        id,
        api_type: 'completions',
        model: 'acme/large',
        provider_name: 'Acme',
        streamed: stream,
        cancelled: false,
        finish_reason: 'stop',
        native_finish_reason: 'stop',
        usage_source: 'measured',
        tokens_prompt: 1000,
        tokens_completion: 100,
        native_tokens_cached: 400,
        // 600 fresh, 400 cached, 100 written: 600 + 40 + 400 millionths of a dollar.
        total_cost: 0.00104,
        usage: 0.00104,
        cache_discount: 0.00036,
        upstream_inference_cost: null,
        is_byok: false,
        external_user: 'ada',
        session_id: 's-1',
        request_id: 'mine',
        http_referer: 'https://app.example/x',
        origin: 'https://app.example',
        service_tier: 'default',
        routing: { requested: 'acme/large', strategy: 'direct', summary: 'available=2, selected=Acme' },
      });
      expect(data.provider_responses).toMatchObject([{ provider_name: 'Acme', status: 200, is_byok: false }]);
      expect(data.latency).toBeGreaterThanOrEqual(0);
      expect(data.generation_time).toBeGreaterThanOrEqual(0);
      expect(Math.abs(Date.parse(data.created_at) - Date.now())).toBeLessThan(60_000);
    }
  });

  it('is visible to every key of the account and to no other', async () => {
    upstream.answer(chatAnswer({ text: 'Hello' }));
    const { id } = await generate();
    expect((await show(id, gateway.managementKey)).status).toBe(200);
    const foreign = await show(id, stranger);
    const unknown = await show('gen-1700000000-00000000000000000000', stranger);
    expect(foreign.status).toBe(404);
    expect(foreign).toEqual({ ...unknown, error: foreign.error });
    expect(foreign.error.message).toBe(unknown.error.message);
  });

  it('lists every attempt', async () => {
    upstream.answer(failure);
    spare.answer(chatAnswer({ text: 'Hello' }));
    const { data } = await show((await generate()).id);
    expect(data.provider_name).toBe('Spare');
    expect(data.provider_responses).toMatchObject([
      { provider_name: 'Acme', status: 500 },
      { provider_name: 'Spare', status: 200 },
    ]);
    expect(data.routing.attempts).toHaveLength(2);
  });

  it('has a row of a failed generation, which cost nothing', async () => {
    upstream.answer(failure);
    spare.answer(failure);
    const { id, status } = await generate();
    expect(status).toBe(502);
    const { data } = await show(id);
    expect(data).toMatchObject({ finish_reason: 'error', cancelled: false, total_cost: 0 });
    expect(data.provider_responses).toHaveLength(2);
  });

  it('records that a stream broke off', async () => {
    const piece = { choices: [{ index: 0, delta: { content: 'Hel' } }] };
    upstream.answer([head(200, SSE), write(`data: ${JSON.stringify(piece)}\n\n`), stall(20), reset()]);
    const { id } = await generate({ stream: true });
    expect((await show(id)).data).toMatchObject({ finish_reason: 'error', cancelled: false, streamed: true });
  });

  it('records that the caller left', async () => {
    const piece = { choices: [{ index: 0, delta: { content: 'Hel' } }] };
    upstream.answer([head(200, SSE), write(`data: ${JSON.stringify(piece)}\n\n`), stall(5000)]);
    const leaving = new AbortController();
    const response = await gateway.fetch('/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/large', input: 'Hi', stream: true, ...ORDER }),
      signal: leaving.signal,
    });
    const id = response.headers.get('x-generation-id') ?? '';
    await response.body?.getReader().read();
    leaving.abort();
    await expect.poll(async () => (await show(id)).status).toBe(200);
    const { data } = await show(id);
    expect(data).toMatchObject({ cancelled: true, finish_reason: null, usage_source: 'estimated' });
    expect(data.tokens_completion).toBeGreaterThan(0);
  });

  describe('of a stream that is longer than its kept text', () => {
    const thoughts = Array.from(
      { length: 400 },
      (_, at) => `Step ${at * 7919} weighs heavier than the last. `,
    );
    const words = Array.from({ length: 1200 }, (_, at) => ` Zeile ${at}: größer als ${at ** 2}`);
    const deltas = [
      ...thoughts.map((reasoning) => ({ reasoning })),
      ...words.map((content) => ({ content })),
    ];
    const reasoning = countTokens(thoughts.join(''));
    const all = reasoning + countTokens(words.join(''));

    const rowOf = async (script: Script) => {
      upstream.answer(script);
      const { id, status } = await generate({ stream: true });
      expect(status).toBe(200);
      return (await show(id)).data;
    };

    it('has our count, if its upstream has none', async () => {
      const data = await rowOf(longStream(deltas));
      expect(data).toMatchObject({ usage_source: 'estimated', finish_reason: 'stop' });
      expect(data.tokens_completion / all).toBeGreaterThan(0.98);
      expect(data.tokens_completion / all).toBeLessThan(1.03);
      expect(data.native_tokens_reasoning / reasoning).toBeGreaterThan(0.98);
      expect(data.native_tokens_reasoning / reasoning).toBeLessThan(1.03);
    });

    it('has our count, if that of its upstream cannot be true', async () => {
      const usage = { prompt_tokens: 1, completion_tokens: 900_000_000, total_tokens: 900_000_001 };
      const data = await rowOf(longStream(deltas, { last: { usage } }));
      expect(data.usage_source).toBe('estimated');
      expect(data.tokens_completion / all).toBeLessThan(1.03);
    });

    it('has our count, if its upstream counted only the first half', async () => {
      const usage = { prompt_tokens: 1, completion_tokens: all / 2, total_tokens: all / 2 + 1 };
      const data = await rowOf(longStream(deltas, { middle: { usage } }));
      expect(data.usage_source).toBe('estimated');
      expect(data.tokens_completion / all).toBeGreaterThan(0.98);
      expect(data.tokens_completion / all).toBeLessThan(1.03);
    });

    it('has the count of its upstream, if that comes with the last text', async () => {
      const usage = { prompt_tokens: 1, completion_tokens: 4321, total_tokens: 4322 };
      const data = await rowOf(longStream([...deltas, { content: 'x', usage }]));
      expect(data).toMatchObject({ usage_source: 'measured', tokens_completion: 4321 });
    });

    it('has our count of all that is billed, if the caller has left', async () => {
      const [first, ...rest] = longStream(deltas) as Step[];
      const begun = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hel' } }] })}\n\n`;
      upstream.answer([first as Step, write(begun), stall(200), ...rest]);
      const leaving = new AbortController();
      const response = await gateway.fetch('/responses', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'acme/thorough', input: 'Hi', stream: true }),
        signal: leaving.signal,
      });
      await response.body?.getReader().read();
      leaving.abort();
      const id = response.headers.get('x-generation-id') ?? '';
      await expect.poll(async () => (await show(id)).data?.cancelled).toBe(true);
      const { data } = await show(id);
      expect(data.tokens_completion / all).toBeGreaterThan(0.98);
      expect(data.tokens_completion / all).toBeLessThan(1.03);
    });

    it('counts content that is not text, too', async () => {
      const call = (at: number) => ({
        name: `look_up_the_weather_in_town_${at}`,
        arguments: '{"town":"Rome"}',
      });
      const calls = Array.from({ length: 1500 }, (_, index) => ({
        tool_calls: [{ index, id: `call_${index}`, type: 'function', function: call(index) }],
      }));
      const names = Array.from(
        { length: 1500 },
        (_, at) => countTokens(call(at).name) + countTokens(call(at).arguments),
      );
      const told = names.reduce((sum, tokens) => sum + tokens, 0);
      const data = await rowOf(longStream(calls));
      expect(data.tokens_completion / told).toBeGreaterThan(0.98);
      expect(data.tokens_completion / told).toBeLessThan(1.1);
    });
  });

  it('has no row for a request that was never sent', async () => {
    const { id, status } = await generate({ model: 'nobody/knows' });
    expect(status).toBe(400);
    expect((await show(id)).status).toBe(404);
  });
});

describe('GET /generation/content', () => {
  const contentOf = async (id: string, key?: string) => get(`/generation/content?id=${id}`, key);

  it('keeps nothing until the workspace turns it on', async () => {
    upstream.answer(chatAnswer({ text: 'Hello' }));
    const { id } = await generate();
    expect((await contentOf(id)).status).toBe(404);
    expect(readdirSync(gateway.dataDir)).not.toContain('content');
  });

  it('keeps prompts and answers from then on, for keys of the account only', async () => {
    upstream.answer(chatAnswer({ text: 'Hello', reasoning: 'Hm' }));
    const before = await generate();
    await keepContent({ is_observability_io_logging_enabled: true });
    const { id } = await generate({ instructions: 'Be brief' });
    const { status, data } = await contentOf(id);
    expect(status).toBe(200);
    expect(data).toEqual({
      input: {
        messages: [
          { role: 'system', content: 'Be brief' },
          { role: 'user', content: 'Hi' },
        ],
      },
      output: { completion: 'Hello', reasoning: 'Hm' },
      error: null,
    });
    expect((await contentOf(id, gateway.managementKey)).status).toBe(200);
    expect((await contentOf(id, stranger)).status).toBe(404);
    expect((await contentOf(before.id)).status).toBe(404);
    await expect.poll(() => readdirSync(join(gateway.dataDir, 'content'))).toHaveLength(1);
    expect((await contentOf(id)).data).toEqual(data);
  });

  it('keeps all of a long stream', async () => {
    const words = Array.from({ length: 4000 }, (_, at) => ` word ${at}`);
    upstream.answer(longStream([{ reasoning: 'Hm' }, ...words.map((content) => ({ content }))]));
    const { data } = await contentOf((await generate({ stream: true })).id);
    expect(data.output).toEqual({ completion: words.join(''), reasoning: 'Hm' });
  });

  it('keeps the reason of a failure', async () => {
    upstream.answer(failure);
    spare.answer(failure);
    const { data } = await contentOf((await generate()).id);
    expect(data.error).toMatchObject({ status: 502, provider_name: 'Spare' });
    expect(data.error.previous_errors).toMatchObject([{ provider_name: 'Acme' }]);
  });

  it('keeps nothing of requests that ask for zero retention', async () => {
    upstream.answer(chatAnswer({ text: 'Hello' }));
    const { id, status } = await generate({ provider: { zdr: true } });
    expect(status).toBe(200);
    expect((await show(id)).status).toBe(200);
    expect((await contentOf(id)).status).toBe(404);
  });

  it('stops when the workspace turns it off', async () => {
    upstream.answer(chatAnswer({ text: 'Hello' }));
    await keepContent({ is_observability_io_logging_enabled: false });
    expect((await contentOf((await generate()).id)).status).toBe(404);
  });
});
