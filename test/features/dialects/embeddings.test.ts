import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let gateway: TestGateway;
let client: OpenAI;

const model = 'simulator/embedding';
const POLLING = { timeout: 10_000 };
const pricing = { prompt: '0.0000001', completion: '0' };
const failing = (name: string, ...upstreams: string[]) => ({
  id: `sim/${name}`,
  output_modalities: ['embeddings'],
  endpoints: upstreams.map((upstream) => ({
    provider: 'simulator',
    model: upstream,
    tag: `simulator/${upstream}`,
    pricing,
  })),
});

beforeAll(async () => {
  gateway = await openTestGateway({
    models: [
      failing('fails', 'fail-500'),
      failing('limited', 'fail-429'),
      failing('cut', 'cut'),
      failing('slow', 'slow'),
      failing('rescued', 'fail-500', 'embedding'),
      { ...failing('short', 'embedding'), context_length: 8 },
      {
        id: 'sim/fixed',
        output_modalities: ['embeddings'],
        endpoints: [{ provider: 'simulator', model: 'embedding', supported_parameters: [], pricing }],
      },
    ],
  });
  client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.apiKey, maxRetries: 0 });
});
afterAll(() => gateway.close());

const cosine = (one: readonly number[], other: readonly number[]) =>
  one.reduce((sum, number, at) => sum + number * (other[at] ?? 0), 0);

const record = async (id: string) => {
  await expect.poll(async () => (await gateway.fetch(`/generation?id=${id}`)).status).toBe(200);
  return ((await (await gateway.fetch(`/generation?id=${id}`)).json()) as any).data;
};

const embed = async (body: object, headers: Record<string, string> = {}) => {
  const response = await gateway.post('/embeddings', { model, input: 'Hello', ...body }, headers);
  return { response, body: (await response.json()) as any };
};

describe('the openai client', () => {
  it('gets numbers, one vector for each text, in order', async () => {
    const input = ['the cat sat on the mat', 'a cat sat on a mat', 'bonds fell on rate fears'];
    const { data, usage, ...rest } = await client.embeddings.create({
      model,
      input,
      encoding_format: 'float',
    });
    expect(rest).toMatchObject({ object: 'list', model });
    expect(data.map(({ index, object }) => [index, object])).toEqual(input.map((_, at) => [at, 'embedding']));
    const [cat, alike, other] = data.map(({ embedding }) => embedding) as [number[], number[], number[]];
    expect(cat).toHaveLength(256);
    expect(cosine(cat, cat)).toBeCloseTo(1, 6);
    expect(cosine(cat, alike)).toBeGreaterThan(cosine(cat, other) + 0.2);
    expect(usage.prompt_tokens).toBe(usage.total_tokens);
    expect((usage as any).cost).toBeCloseTo(usage.prompt_tokens / 1e7, 12);
  });

  it('asks for base64 by itself and decodes the same vector', async () => {
    const [floats, decoded] = await Promise.all([
      client.embeddings.create({ model, input: 'Hello there', encoding_format: 'float' }),
      client.embeddings.create({ model, input: 'Hello there' }),
    ]);
    const rounded = floats.data[0]?.embedding.map(Math.fround);
    expect(decoded.data[0]?.embedding).toEqual(rounded);
    const plain = await client.embeddings.create({ model, input: 'Hello there', encoding_format: 'base64' });
    expect(typeof plain.data[0]?.embedding).toBe('string');
  });

  it('chooses the length of vectors, and embeds token ids', async () => {
    const short = await client.embeddings.create({ model, input: 'Hello', dimensions: 16 });
    expect(short.data[0]?.embedding).toHaveLength(16);
    const one = await client.embeddings.create({ model, input: [15339, 1917] });
    expect([one.data.length, one.usage.prompt_tokens]).toEqual([1, 2]);
    const two = await client.embeddings.create({ model, input: [[15339, 1917], [15339]] });
    expect([two.data.length, two.usage.prompt_tokens]).toEqual([2, 3]);
  });

  it('splits a large batch without mixing its order', async () => {
    const input = Array.from({ length: 1100 }, (_, at) => `text number ${at}`);
    const { data, usage } = await client.embeddings.create({ model, input, dimensions: 32 });
    expect(data).toHaveLength(1100);
    const [alone] = (await client.embeddings.create({ model, input: 'text number 1077', dimensions: 32 }))
      .data;
    expect(data[1077]?.embedding).toEqual(alone?.embedding);
    expect(usage.prompt_tokens).toBe(input.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0));
  });

  it('gets errors as its own classes', async () => {
    await expect(client.embeddings.create({ model: 'sim/limited', input: 'a' })).rejects.toThrow(
      OpenAI.RateLimitError,
    );
    await expect(client.embeddings.create({ model: 'sim/fails', input: 'a' })).rejects.toThrow(
      OpenAI.InternalServerError,
    );
    await expect(client.embeddings.create({ model, input: [] })).rejects.toThrow(OpenAI.BadRequestError);
    await expect(client.embeddings.create({ model: 'nobody/knows', input: 'a' })).rejects.toThrow(
      /not a valid model/,
    );
  });

  it('may leave before the answer: the upstream is let go and nothing is charged', async () => {
    const leaving = new AbortController();
    const asked = client.embeddings.create({ model: 'sim/slow', input: 'a' }, { signal: leaving.signal });
    setTimeout(() => leaving.abort(), 200);
    await expect(asked).rejects.toThrow(OpenAI.APIUserAbortError);
    await expect
      .poll(() => gateway.logged('generation').filter(({ outcome }) => outcome === 'aborted'))
      .toMatchObject([{ format: 'embeddings', cost_usd: 0 }]);
  });
});

describe('a record', () => {
  it('says what was asked for, used and paid', async () => {
    const { body, response } = await embed({ user: 'anna', input: ['one two three', 'four'] });
    expect(response.headers.get('x-generation-id')).toBe(body.id);
    const data = await record(body.id);
    expect(data).toMatchObject({
      api_type: 'embeddings',
      model,
      provider_name: 'Simulator',
      external_user: 'anna',
      streamed: false,
      tokens_prompt: body.usage.prompt_tokens,
      tokens_completion: 0,
      total_cost: body.usage.cost,
    });
    expect(body.usage.cost).toBeCloseTo(body.usage.prompt_tokens / 1e7, 12);
  });

  it('of an answer that breaks off is a failure that costs nothing', async () => {
    const { response } = await embed({ model: 'sim/cut' });
    expect(response.status).toBe(502);
    const data = await record(response.headers.get('x-generation-id') ?? '');
    expect(data).toMatchObject({ api_type: 'embeddings', finish_reason: 'error', total_cost: 0 });
  });

  it('is counted by analytics and metrics', async () => {
    const { body } = await embed({ input: 'counted by analytics' });
    const asked = {
      metrics: ['request_count', 'tokens_prompt'],
      dimensions: ['model'],
      filters: [{ field: 'model', operator: 'eq', value: model }],
    };
    await expect
      .poll(async () => {
        const response = await gateway.fetch('/analytics/query', {
          method: 'POST',
          key: gateway.managementKey,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(asked),
        });
        return response.text();
      }, POLLING)
      .toMatch(/"request_count":"?[1-9]/);
    expect(body.usage.prompt_tokens).toBeGreaterThan(0);
    const response = await fetch(`${gateway.origin}/metrics`, {
      headers: { authorization: `Bearer ${gateway.managementKey}` },
    });
    expect(await response.text()).toMatch(
      /signalbox_generations_total\{format="embeddings",provider="simulator"/,
    );
  });
});

describe('routing', () => {
  it('falls back to the next endpoint and says so', async () => {
    const order = ['simulator/fail-500', 'simulator/embedding'];
    const { body } = await embed(
      { model: 'sim/rescued', provider: { order } },
      { 'x-signalbox-metadata': 'enabled' },
    );
    expect(body.data).toHaveLength(1);
    expect(body.signalbox_metadata.attempts.map(({ status }: any) => status)).toEqual([500, 200]);
  });

  it('falls back to another model of the list', async () => {
    const { body } = await embed({ model: 'sim/fails', models: [model] });
    expect(body.model).toBe(model);
  });

  it('never drops the length of vectors: an endpoint without that choice is ruled out', async () => {
    const { response, body } = await embed({ model: 'sim/fixed', dimensions: 8 });
    expect(response.status).toBe(404);
    expect(body.error.message).toContain('does not let the length of vectors be chosen');
  });

  it('measures the longest input, not all of them together', async () => {
    const many = Array.from({ length: 30 }, () => 'short text');
    expect((await embed({ model: 'sim/short', input: many })).response.status).toBe(200);
    const long = await embed({ model: 'sim/short', input: ['short', 'word '.repeat(40)] });
    expect(long.response.status).toBe(400);
    expect(long.body.error.metadata.error_type).toBe('context_length_exceeded');
    expect(long.body.error.message).toMatch(
      /^This model's maximum context length is 8 tokens\. However, .* choose a model with a larger context\.$/,
    );
  });

  it('is explained without a call', async () => {
    const response = await gateway.post('/routing/explain', { format: 'embeddings', model, input: 'Hello' });
    const { data } = (await response.json()) as any;
    expect(data.candidates).toMatchObject([{ provider: 'Simulator', lane: 'relay', model }]);
    expect(data.estimate).toMatchObject({ max_output_tokens: 0 });
    expect(data.estimate.max_cost_usd).toBeGreaterThan(0);
  });
});

describe('the response cache', () => {
  it('gives vectors again, for nothing', async () => {
    const asked = { input: ['cached', 'vectors'], encoding_format: 'base64' };
    const on = { 'x-signalbox-cache': 'true' };
    const first = await embed(asked, on);
    await expect
      .poll(async () => (await embed(asked, on)).response.headers.get('x-signalbox-cache-status'))
      .toBe('HIT');
    const again = await embed(asked, on);
    expect(again.body.data).toEqual(first.body.data);
    expect(again.body.usage.cost).toBe(0);
  });
});

describe('what is refused', () => {
  it.each([
    ['a model that chats', { model: 'simulator/standard' }, 'GET /models?output_modalities=embeddings'],
    ['a router', { model: 'signalbox/auto' }, 'chooses no embedding model'],
    ['no input', { input: [] }, 'input'],
    ['an empty text', { input: ['a', ''] }, 'input[1]: must not be empty'],
    ['too many inputs', { input: Array.from({ length: 2049 }, () => 'a') }, 'at most 2048'],
    ['a mixture', { input: ['a', 1] }, 'must be a text, a list of texts'],
    ['an encoding', { encoding_format: 'ubinary' }, 'encoding_format'],
    ['no dimensions', { dimensions: 0 }, 'dimensions'],
    ['longer vectors than there are', { dimensions: 5000 }, 'must be at most 4096'],
    ['a stream', { stream: true }, 'embeddings come in one piece'],
  ])('%s', async (_, asked, words) => {
    const { response, body } = await embed(asked);
    expect([response.status, body.error.message]).toEqual([400, expect.stringContaining(words)]);
  });

  it.each([
    ['/chat/completions', { messages: [{ role: 'user', content: 'a' }] }],
    ['/responses', { input: 'a' }],
    ['/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'a' }] }],
  ])('an embedding model on %s', async (path, asked) => {
    const response = await gateway.post(path, { model, ...asked });
    expect(response.status).toBe(400);
    expect(((await response.json()) as any).error.message).toContain('POST /embeddings');
  });
});

describe('the list of models', () => {
  const ids = async (query: string) => {
    const { data } = (await (await gateway.fetch(`/models${query}`)).json()) as any;
    return data.map(({ id }: any) => id) as string[];
  };

  it('shows embedding models where they are asked for', async () => {
    expect(await ids('')).not.toContain(model);
    expect(await ids('?output_modalities=embeddings')).toContain(model);
    expect(await ids('?output_modalities=embeddings')).not.toContain('simulator/standard');
    expect(await ids('?output_modalities=all')).toContain(model);
  });
});

describe('limits of a key', () => {
  it('are reserved before and hold', async () => {
    const made = await gateway.fetch('/keys', {
      method: 'POST',
      key: gateway.managementKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'small', limit: 0.0001 }),
    });
    const { key } = (await made.json()) as any;
    const ask = (input: string) =>
      gateway.fetch('/embeddings', {
        method: 'POST',
        key,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, input }),
      });
    expect((await ask('Hello')).status).toBe(200);
    expect((await ask('word '.repeat(4000))).status).toBe(402);
    expect((await ask('Hello')).status).toBe(200);
  });
});
