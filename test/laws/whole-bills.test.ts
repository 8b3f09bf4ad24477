import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runs } from '../kit/builders/runs.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  type RecordedRequest,
  reply,
  reset,
  type Script,
  type Step,
  stepsOf,
  write,
} from '../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../kit/gateway-harness.ts';

/*
 * Answers that always come whole: vectors, decisions and compacted conversations. Whatever becomes of one, what its
 * upstream bills is charged, or written off.
 */

const PRICE = 0.000002;
const pricing = { prompt: String(PRICE.toFixed(6)), completion: PRICE.toFixed(6) };
const AWS = JSON.stringify({ accessKeyId: 'AKID', secretAccessKey: 'aws-secret', region: 'us-east-1' });

/** Tokens that each call is billed. */
const TOKENS = 300;
const BILL = TOKENS * PRICE;
const INPUTS = ['word '.repeat(200), 'other '.repeat(200)];

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const { url: base_url } = upstream;
  const vectors = (id: string, provider: string, more: object = {}) => ({
    id,
    output_modalities: ['embeddings'],
    context_length: 8_192,
    endpoints: [{ provider, model: id, pricing, ...more }],
  });
  const size = { context_length: 100_000, max_output_tokens: 2_000 };
  gateway = await openTestGateway({
    providers: [
      { slug: 'open', dialect: 'openai-chat', base_url, api_key: 'k' },
      { slug: 'goo', dialect: 'google-gemini', base_url, api_key: 'k' },
      { slug: 'bed', dialect: 'aws-bedrock', base_url, api_key: AWS },
      { slug: 'cohere', base_url: `${base_url}/compatibility/v1`, api_key: 'k' },
      { slug: 'openai', dialect: 'openai-responses', base_url, api_key: 'k' },
    ],
    models: [
      vectors('e/open', 'open'),
      vectors('e/one-by-one', 'open', { max_inputs: 1 }),
      vectors('e/gemini', 'goo'),
      {
        ...vectors('e/titan', 'bed'),
        endpoints: [{ provider: 'bed', model: 'amazon.titan-embed-text-v2:0', pricing }],
      },
      vectors('e/cohere', 'cohere'),
      ...['openai', 'system-one'].map((decisions) => ({
        id: `d/${decisions}`,
        ...size,
        endpoints: [{ provider: 'open', model: 'm', decisions, pricing, ...size }],
      })),
      { id: 'c/openai', ...size, endpoints: [{ provider: 'openai', model: 'm', pricing, ...size }] },
    ],
  } as never);
});
beforeEach(() => upstream.clear());
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function ask(path: string, body: object) {
  const response = await gateway.post(path, body);
  await response.text();
  const shown = async () => await gateway.fetch(`/generation?id=${response.headers.get('x-generation-id')}`);
  await expect.poll(async () => (await shown()).status).toBe(200);
  const { data } = (await (await shown()).json()) as any;
  return {
    status: response.status,
    accounted: data.total_cost + data.written_off,
    causes: data.write_offs.map(({ cause }: { cause: string }) => cause),
  };
}

/** Requests by what they ask for. */
const ASKED: Readonly<Record<string, readonly [path: string, body: object]>> = {
  ...Object.fromEntries(
    ['e/open', 'e/gemini', 'e/titan', 'e/cohere'].map((model) => [
      `vectors of ${model}`,
      ['/embeddings', { model, input: INPUTS }] as const,
    ]),
  ),
  decisions: [
    '/decisions',
    { model: 'd/openai', input: INPUTS[0], questions: [{ type: 'predicate', instructions: 'Is it?' }] },
  ],
  'decisions of System One': [
    '/systemone',
    { model: 'd/system-one', state: INPUTS[0], questions: { a: { type: 'noul', instructions: 'Is it?' } } },
  ],
  'a compacted conversation': ['/responses/compact', { model: 'c/openai', input: INPUTS[0] }],
};

/** Reports in the words of each upstream. */
const REPORT = {
  usage: { input_tokens: TOKENS, output_tokens: 0, prompt_tokens: TOKENS, total_tokens: TOKENS },
  usageMetadata: { promptTokenCount: TOKENS },
  meta: { billed_units: { input_tokens: TOKENS } },
  inputTextTokenCount: TOKENS,
};

/** Answers that are billed and of no use. */
const USELESS: Readonly<Record<string, Script>> = {
  'is something else': reply(200, { result: 'no answer' }),
  'is something else with a report': reply(200, { result: 'no answer', ...REPORT }),
  'has too many parts, and a report': reply(200, {
    ...REPORT,
    data: [0, 1, 2].map((index) => ({ index, embedding: [1, 2] })),
    embeddings: {
      float: [
        [1, 2],
        [1, 2],
        [1, 2],
      ],
    },
    answers: [{}, {}, {}],
  }),
  'is no object': reply(200, [1]),
  'is no JSON': [head(200, JSON_TYPE), write('{"data":'), end()],
  'breaks off': [head(200, JSON_TYPE), write('{"data":'), reset()],
  'comes too late': reply(504, {}),
};

describe.each(Object.entries(ASKED))('law: %s', (_, [path, body]) => {
  it.each(Object.entries(USELESS))('whose answer %s', async (_name, script) => {
    upstream.answer(script);
    const { status, accounted, causes } = await ask(path, { ...body, provider: { allow_fallbacks: false } });
    expect(status).toBeGreaterThanOrEqual(500);
    expect(upstream.requests.length).toBeGreaterThan(0);
    expect(accounted).toBeGreaterThanOrEqual(BILL - 1e-9);
    expect(causes).toEqual([expect.stringMatching(/^(?:dropped|time_limit)$/)]);
  });
});

describe('law: vectors of several calls', () => {
  const input = Array.from({ length: 9 }, (_, index) => `${'word '.repeat(200)}${index}`);
  const vectors = (request: RecordedRequest, vector: number[]): readonly Step[] =>
    stepsOf(reply(200, { data: [{ index: 0, embedding: vector }], ...REPORT }), request);

  it.each<[string, (request: RecordedRequest) => readonly Step[], number]>([
    ['fails', (request) => stepsOf(reply(500, { error: { message: 'no' } }), request), 8],
    ['has vectors of another length', (request) => vectors(request, [1, 2, 3]), 9],
  ])('of which one %s while others are under way', async (_, odd, billed) => {
    let isOver: () => void = () => {};
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    upstream.answer((request) => {
      const { length } = upstream.requests;
      if (length === 1) return vectors(request, [1, 2]);
      // The second call ends when all others have come, which then are worked on until the request is over.
      if (length === 2) return [() => upstream.request(8).then(() => {}), ...odd(request)];
      return [() => over, ...vectors(request, [1, 2])];
    });
    const { status, accounted } = await ask('/embeddings', { model: 'e/one-by-one', input });
    isOver();
    expect([status, upstream.requests.length]).toEqual([502, 9]);
    expect(accounted).toBeGreaterThanOrEqual(billed * BILL - 1e-9);
  });
});

/** What each upstream answers that does as it is asked. */
const USEFUL: Script = (request) => {
  const { path, json } = request;
  const vector = [1, 2];
  const count = (json.input ?? json.texts ?? json.requests ?? [0]).length;
  const parts = Array.from({ length: count }, (_, index) => ({ index, embedding: vector, values: vector }));
  const answers = path.endsWith('/systemone')
    ? { a: { noul: 0.5 } }
    : [{ type: 'predicate', probability: 0.5 }];
  const isDecision = path.endsWith('/decisions') || path.endsWith('/systemone');
  const body = {
    ...REPORT,
    data: parts,
    embeddings: json.requests === undefined ? { float: parts.map(() => vector) } : parts,
    embedding: vector,
    ...(isDecision && { answers }),
    ...(path.includes('/responses') && {
      status: 'completed',
      output: [
        { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] },
      ],
    }),
  };
  return stepsOf(reply(200, body), request);
};

describe('law: answers that are whole, of a key with a limit', () => {
  const kinds = Object.keys(ASKED);
  const requests = fc.array(
    fc.record({
      kind: fc.constantFrom(...kinds),
      ending: fc.constantFrom('useful', 'useful', 'useful', ...Object.keys(USELESS)),
      leaves: fc.integer({ min: 0, max: 5 }).map((chance) => chance === 0),
    }),
    { minLength: 10, maxLength: 20 },
  );

  it('cost no more than that, whatever they are and however many race', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (all) => {
        upstream.clear();
        const limit = 0.008;
        const made = await gateway.fetch('/keys', {
          method: 'POST',
          key: gateway.managementKey,
          body: JSON.stringify({ name: 'Law', limit }),
          headers: { 'content-type': 'application/json' },
        });
        const { key, data } = (await made.json()) as { key: string; data: { hash: string } };
        let calls = 0;
        const endings = all.map(({ ending }) => (ending === 'useful' ? USEFUL : (USELESS[ending] ?? USEFUL)));
        upstream.answer((request) => stepsOf(endings[calls++ % endings.length] ?? USEFUL, request));
        await Promise.all(
          all.map(async ({ kind, leaves }, index) => {
            const [path, body] = ASKED[kind] ?? ['', {}];
            const mark = `Question ${index}: `;
            const leaving = new AbortController();
            const asking = gateway.fetch(path, {
              method: 'POST',
              key,
              signal: leaving.signal,
              body: JSON.stringify(body).replace(INPUTS[0] ?? '', mark + INPUTS[0]),
              headers: { 'content-type': 'application/json' },
            });
            // The gateway has the request once an upstream was called for it.
            if (leaves) {
              await Promise.race([upstream.requestWith(mark), asking]);
              leaving.abort();
            }
            await asking.then((reply) => reply.text()).catch(() => {});
          }),
        );
        const logged = () =>
          ['generation', 'generation failed', 'generation refused']
            .flatMap((message) => gateway.logged(message))
            .filter(({ key_hash }) => key_hash === data.hash);
        await expect.poll(() => logged().length).toBe(all.length);
        const replies = await Promise.all(logged().map(({ id }) => gateway.fetch(`/generation?id=${id}`)));
        // A request that a limit refuses has no record.
        const recorded = replies.filter(({ status }) => status === 200);
        const rows: any[] = await Promise.all(
          recorded.map(async (reply) => ((await reply.json()) as any).data),
        );
        const sum = (name: string) => rows.reduce((total, row) => total + row[name], 0);
        const [charged, writtenOff] = [sum('total_cost'), sum('written_off')];
        const story = JSON.stringify({
          calls,
          rows: rows.map(({ total_cost, written_off }) => [total_cost, written_off]),
        });
        expect(calls, story).toBeGreaterThan(0);
        expect(charged + writtenOff, story).toBeGreaterThanOrEqual(calls * BILL - 1e-9);
        expect(charged, story).toBeLessThanOrEqual(limit + 1e-9);
        expect(calls * BILL - writtenOff, story).toBeLessThanOrEqual(limit + 1e-9);
      }),
      { numRuns: runs(5, 60), endOnFailure: true },
    );
  });
});
