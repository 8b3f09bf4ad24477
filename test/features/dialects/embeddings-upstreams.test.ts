import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type FakeUpstream,
  never,
  openFakeUpstream,
  reply,
  type Script,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;
let client: OpenAI;

const pricing = { prompt: '0.000002', completion: '0', request: '0.00001' };
const AWS = JSON.stringify({ accessKeyId: 'AKID', secretAccessKey: 'aws-secret', region: 'us-east-1' });

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const { url } = upstream;
  const model = (id: string, provider: string, name: string, more: object = {}) => ({
    id,
    output_modalities: ['embeddings'],
    context_length: 8192,
    endpoints: [{ provider, model: name, pricing, ...more }],
  });
  gateway = await openTestGateway({
    providers: [
      { slug: 'open', name: 'Open', dialect: 'openai-chat', base_url: url, api_key: 'open-key' },
      { slug: 'goo', name: 'Goo', dialect: 'google-gemini', base_url: url, api_key: 'goo-key' },
      { slug: 'bed', name: 'Bed', dialect: 'aws-bedrock', base_url: url, api_key: AWS },
      { slug: 'cohere', base_url: `${url}/compatibility/v1`, api_key: 'co-key' },
    ],
    models: [
      model('m/open', 'open', 'open-v1'),
      model('m/pairs', 'open', 'open-v1', { max_inputs: 2 }),
      model('m/floats', 'open', 'open-v1', { supported_parameters: ['dimensions'] }),
      {
        ...model('m/two', 'open', 'open-v1'),
        endpoints: ['open', 'open/second'].map((tag) => ({ provider: 'open', model: tag, tag, pricing })),
      },
      model('m/gemini', 'goo', 'gemini-embedding-001'),
      model('m/titan', 'bed', 'amazon.titan-embed-text-v2:0'),
      model('m/bedrock-cohere', 'bed', 'eu.cohere.embed-v4:0'),
      model('m/strange', 'bed', 'acme.embed'),
      model('m/cohere', 'cohere', 'embed-v4.0'),
    ],
    byok: { fee: 0.05 },
  });
  client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.apiKey, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
afterEach(() => upstream.clear());

/** A vector that says which text it is of: its length and its first character. */
const vectorOf = (text: string) => [text.length, text.charCodeAt(0) / 1024, 0.25];
const base64 = (vector: number[]) => Buffer.from(Float32Array.from(vector).buffer).toString('base64');

/** Answers as OpenAI does, entries in reverse order. */
const openAnswer: Script = (request) => {
  const { input, encoding_format: encoding } = request.json;
  const texts: string[] = Array.isArray(input) ? input : [input];
  const data = texts.map((text, index) => {
    const vector = vectorOf(text);
    return { object: 'embedding', index, embedding: encoding === 'base64' ? base64(vector) : vector };
  });
  const tokens = texts.reduce((sum, text) => sum + text.length, 0);
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return steps(reply(200, { object: 'list', data: data.reverse(), model: 'open-v1', usage }), request);
};

const steps = (script: Script, request: Parameters<Extract<Script, (...of: never[]) => unknown>>[0]) =>
  typeof script === 'function' ? script(request) : script;

const embed = async (body: object, headers: Record<string, string> = {}) => {
  const response = await gateway.post('/embeddings', body, headers);
  return { response, body: (await response.json()) as any };
};

const record = async (id: string | null) => {
  await expect.poll(async () => (await gateway.fetch(`/generation?id=${id}`)).status).toBe(200);
  return ((await (await gateway.fetch(`/generation?id=${id}`)).json()) as any).data;
};

const METADATA = { 'x-signalbox-metadata': 'enabled' };

describe('an OpenAI-compatible upstream', () => {
  it('gets the body of the caller, with its own model and without fields for the gateway', async () => {
    upstream.answer(openAnswer);
    const { body } = await embed({
      model: 'm/open',
      input: ['ab', 'c'],
      dimensions: 3,
      user: 'anna',
      provider: { sort: 'price' },
      truncate: 'END',
    });
    const [{ path, json, headers }] = upstream.requests as [any];
    expect([path, headers.authorization]).toEqual(['/v1/embeddings', 'Bearer open-key']);
    expect(json).toEqual({
      model: 'open-v1',
      input: ['ab', 'c'],
      dimensions: 3,
      truncate: 'END',
      user: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(body.data.map(({ embedding }: any) => embedding)).toEqual([vectorOf('ab'), vectorOf('c')]);
    expect(body.usage).toMatchObject({ prompt_tokens: 3, total_tokens: 3, cost: 0.000016, is_byok: false });
  });

  it('is asked for base64 if the caller wants it; one that sends numbers is encoded', async () => {
    upstream.answer(openAnswer);
    const { data } = await client.embeddings.create({ model: 'm/open', input: 'abc' });
    expect(upstream.requests[0]?.json.encoding_format).toBe('base64');
    expect(data[0]?.embedding).toEqual(vectorOf('abc').map(Math.fround));
    const { body } = await embed({ model: 'm/floats', input: 'abc', encoding_format: 'base64' });
    expect(upstream.requests[1]?.json).not.toHaveProperty('encoding_format');
    expect(body.data[0].embedding).toBe(base64(vectorOf('abc')));
  });

  it('that sends base64 unasked is decoded', async () => {
    upstream.answer(
      reply(200, { data: [{ embedding: base64([1, 0.5]) }], usage: { prompt_tokens: 1, total_tokens: 1 } }),
    );
    expect((await embed({ model: 'm/open', input: 'a' })).body.data[0].embedding).toEqual([1, 0.5]);
  });

  it.each([
    ['too few vectors', 'sent 1 vector for 2 inputs', { data: [{ index: 0, embedding: [1] }] }],
    [
      'a hole',
      'sent 1 vector for 2 inputs',
      {
        data: [
          { index: 0, embedding: [1] },
          { index: 0, embedding: [2] },
        ],
      },
    ],
    ['no vectors', 'sent 0 vectors for 2 inputs', { data: [{ embedding: [] }, { embedding: null }] }],
    ['no answer', 'sent 0 vectors for 2 inputs', { hello: 'there' }],
    [
      'texts in a vector',
      'sent a vector that is neither a list of numbers nor base64 of 32-bit numbers',
      { data: [{ embedding: [1, 2] }, { embedding: ['1', '2'] }] },
    ],
    [
      'vectors of different lengths',
      'sent vectors of different lengths: 2 and 3 numbers',
      { data: [{ embedding: [1, 2] }, { embedding: [1, 2, 3] }] },
    ],
    [
      'vectors of another length than was asked for',
      'sent vectors of 3 numbers although dimensions asked for 2',
      { data: [{ embedding: [1, 2, 3] }, { embedding: base64([1, 2, 3]) }] },
    ],
  ])('that sends %s has failed', async (_, sentence, answer) => {
    upstream.answer(reply(200, answer));
    const { response, body } = await embed({ model: 'm/open', input: ['a', 'b'], dimensions: 2 });
    expect([response.status, body.error.message]).toEqual([
      502,
      `Provider returned error: The provider ${sentence}`,
    ]);
    expect((await record(response.headers.get('x-generation-id'))).total_cost).toBe(0);
  });

  it('that sends vectors of a wrong length is passed over for the next endpoint', async () => {
    upstream
      .answer(reply(200, { data: [{ embedding: [1, 2] }] }))
      .answer(reply(200, { data: [{ embedding: [1, 2, 3] }] }));
    const { response, body } = await embed({ model: 'm/two', input: 'a', dimensions: 3 }, METADATA);
    expect([response.status, body.data?.[0].embedding]).toEqual([200, [1, 2, 3]]);
    expect(body.signalbox_metadata.attempts).toHaveLength(2);
  });

  it('is called with a credential of the account, for a share of the price', async () => {
    upstream.answer(openAnswer);
    const manage = (method: string, path: string, body?: object) =>
      gateway.fetch(path, {
        method,
        key: gateway.managementKey,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    const made = await manage('POST', '/byok', { provider: 'open', key: 'own-key-of-the-caller' });
    const { data } = (await made.json()) as any;
    const { body } = await embed({ model: 'm/open', input: 'a'.repeat(95) });
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer own-key-of-the-caller');
    expect(body.usage).toMatchObject({
      is_byok: true,
      cost: 0.00001,
      cost_details: { upstream_inference_cost: 0.0002 },
    });
    await manage('DELETE', `/byok/${data.id}`);
  });

  it('that counts nothing is counted by the gateway', async () => {
    upstream.answer(reply(200, { data: [{ embedding: [1] }] }));
    const { body } = await embed({ model: 'm/open', input: 'one two three' });
    expect(body.usage.prompt_tokens).toBe(3);
    expect(body.usage.cost).toBeCloseTo(0.000016, 12);
  });
});

describe('more inputs than an upstream takes', () => {
  const input = ['a', 'bb', 'ccc', 'dddd', 'eeeee', 'f', 'gg'];

  it('are sent in several calls and come back as one answer, in order', async () => {
    upstream.answer(openAnswer);
    const { body } = await embed({ model: 'm/pairs', input });
    expect(upstream.requests.map(({ json }) => json.input.length).sort()).toEqual([1, 2, 2, 2]);
    expect(body.data.map(({ index, embedding }: any) => [index, embedding[0]])).toEqual(
      input.map(({ length }, index) => [index, length]),
    );
    const tokens = input.join('').length;
    expect(body.usage.prompt_tokens).toBe(tokens);
    expect(body.usage.cost).toBeCloseTo(tokens * 0.000002 + 0.00001, 12);
  });

  it('fail as a whole when one call does; what was used until then is charged', async () => {
    upstream.answer((request) =>
      request.json.input[0] === 'eeeee'
        ? steps(reply(500, { error: { message: 'broken' } }), request)
        : steps(openAnswer, request),
    );
    const { response, body } = await embed({ model: 'm/pairs', input });
    expect([response.status, body.data]).toEqual([502, undefined]);
    const { total_cost, tokens_prompt, finish_reason } = await record(
      response.headers.get('x-generation-id'),
    );
    expect(finish_reason).toBe('error');
    expect(tokens_prompt).toBeGreaterThanOrEqual(3);
    expect(total_cost).toBeCloseTo(tokens_prompt * 0.000002 + 0.00001, 12);
  });

  it('fail when a later call sends vectors of another length', async () => {
    upstream.answer((request) => {
      const numbers = request.json.input[0] === 'eeeee' ? [1, 2] : [1, 2, 3];
      const data = request.json.input.map(() => ({ embedding: numbers }));
      return steps(reply(200, { data, usage: { prompt_tokens: 1, total_tokens: 1 } }), request);
    });
    const { response, body } = await embed({ model: 'm/pairs', input });
    expect([response.status, body.error.message]).toEqual([
      502,
      'The provider sent vectors of different lengths: 3 and 2 numbers',
    ]);
  });

  it('fail for nothing when the first call does', async () => {
    upstream.answer(reply(500, { error: { message: 'broken' } }));
    const { response } = await embed({ model: 'm/pairs', input });
    expect(response.status).toBe(502);
    expect(upstream.requests).toHaveLength(1);
    expect((await record(response.headers.get('x-generation-id'))).total_cost).toBe(0);
  });

  it('are let go when the caller leaves; vectors that had come are charged', async () => {
    upstream.answer(openAnswer).answer([never()]);
    const leaving = new AbortController();
    const asked = client.embeddings.create({ model: 'm/pairs', input }, { signal: leaving.signal });
    const [, second] = [await upstream.request(0), await upstream.request(1)];
    leaving.abort();
    await expect(asked).rejects.toThrow(OpenAI.APIUserAbortError);
    await second.closed;
    await expect
      .poll(() => gateway.logged('generation').at(-1))
      .toMatchObject({
        outcome: 'aborted',
        input_tokens: 3,
        cost_usd: 0.000016,
      });
  });
});

describe('Gemini', () => {
  it('is asked by batchEmbedContents', async () => {
    upstream.answer((request) => {
      const texts = request.json.requests.map(({ content }: any) => content.parts[0].text);
      return steps(
        reply(200, { embeddings: texts.map((text: string) => ({ values: vectorOf(text) })) }),
        request,
      );
    });
    const { body } = await embed({
      model: 'm/gemini',
      input: ['ab', 'c'],
      dimensions: 3,
      input_type: 'search_query',
    });
    const [{ path, json, headers }] = upstream.requests as [any];
    expect(path).toBe('/v1/models/gemini-embedding-001:batchEmbedContents');
    expect(headers['x-goog-api-key']).toBe('goo-key');
    expect(json.requests[1]).toEqual({
      model: 'models/gemini-embedding-001',
      taskType: 'RETRIEVAL_QUERY',
      outputDimensionality: 3,
      content: { parts: [{ text: 'c' }] },
    });
    expect(body.data.map(({ embedding }: any) => embedding)).toEqual([vectorOf('ab'), vectorOf('c')]);
    expect(body.usage.prompt_tokens).toBe(2);
    expect((await record(body.id)).total_cost).toBe(body.usage.cost);
  });

  it('gets a hundred inputs at a time', async () => {
    upstream.answer((request) =>
      steps(reply(200, { embeddings: request.json.requests.map(() => ({ values: [1] })) }), request),
    );
    const { body } = await embed({ model: 'm/gemini', input: Array.from({ length: 250 }, () => 'x') });
    expect(upstream.requests.map(({ json }) => json.requests.length).sort()).toEqual([100, 100, 50]);
    expect(body.data).toHaveLength(250);
  });

  it('takes no token ids: the request is refused with the reason', async () => {
    const { response, body } = await embed({ model: 'm/gemini', input: [1, 2, 3] });
    expect(response.status).toBe(404);
    expect(body.error.message).toContain('takes texts only, no token ids');
  });
});

describe('Bedrock', () => {
  it('is asked for Titan one text at a time', async () => {
    upstream.answer((request) => {
      const { inputText } = request.json;
      const answer = { embedding: vectorOf(inputText), inputTextTokenCount: inputText.length };
      return steps(reply(200, answer), request);
    });
    const { body } = await embed({ model: 'm/titan', input: ['ab', 'c', 'def'], dimensions: 3 }, METADATA);
    expect(upstream.requests).toHaveLength(3);
    const [{ path, json, headers }] = upstream.requests as [any];
    expect(path).toBe('/v1/model/amazon.titan-embed-text-v2%3A0/invoke');
    expect(headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKID/);
    expect(json).toEqual({ inputText: 'ab', dimensions: 3 });
    expect(body.data.map(({ embedding }: any) => embedding[0])).toEqual([2, 1, 3]);
    expect(body.usage.prompt_tokens).toBe(6);
    expect(body.signalbox_metadata.attempts).toHaveLength(1);
  });

  it('is asked for Cohere in the words of Cohere, and counts in a header', async () => {
    upstream.answer((request) =>
      steps(
        reply(
          200,
          { embeddings: { float: request.json.texts.map(vectorOf) }, response_type: 'embeddings_by_type' },
          { 'content-type': 'application/json', 'x-amzn-bedrock-input-token-count': '7' },
        ),
        request,
      ),
    );
    const { body } = await embed({ model: 'm/bedrock-cohere', input: ['ab', 'c'] }, METADATA);
    expect(upstream.requests[0]?.json).toEqual({
      texts: ['ab', 'c'],
      input_type: 'search_document',
      embedding_types: ['float'],
    });
    expect(body.usage.prompt_tokens).toBe(7);
    expect(body.signalbox_metadata.translation).toContainEqual(
      expect.objectContaining({ field: 'input_type', action: 'coerced' }),
    );
  });

  it('is not asked for models of a form that is not known', async () => {
    const { response, body } = await embed({ model: 'm/strange', input: 'a' });
    expect([response.status, body.error.message]).toEqual([400, expect.stringContaining('Titan and Cohere')]);
  });
});

describe('Cohere', () => {
  it('is asked at /v2/embed, beside its compatible interface', async () => {
    upstream.answer((request) =>
      steps(
        reply(200, {
          id: 'co-1',
          embeddings: { float: request.json.texts.map(vectorOf) },
          meta: { billed_units: { input_tokens: 9 } },
        }),
        request,
      ),
    );
    const input = Array.from({ length: 97 }, (_, at) => 'x'.repeat(at + 1));
    const { body } = await embed({ model: 'm/cohere', input, dimensions: 3, input_type: 'clustering' });
    const [first, second] = upstream.requests as [any, any];
    expect([first.path, first.headers.authorization]).toEqual(['/v1/v2/embed', 'Bearer co-key']);
    expect([first.json.texts.length, second.json.texts.length]).toEqual([96, 1]);
    expect({ ...first.json, texts: [] }).toEqual({
      model: 'embed-v4.0',
      texts: [],
      input_type: 'clustering',
      embedding_types: ['float'],
      output_dimension: 3,
    });
    expect(body.data.map(({ embedding }: any) => embedding[0])).toEqual(input.map(({ length }) => length));
    expect(body.usage.prompt_tokens).toBe(18);
  });
});
