import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AnswerContent, chatAnswer } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  type RecordedRequest,
  stepsOf,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { PATHS, QUESTION } from './tool-gateway.ts';

let inside: FakeUpstream;
let outside: FakeUpstream;
let gateway: TestGateway;

const ANALYSIS = {
  consensus: [],
  contradictions: [],
  partial_coverage: [],
  unique_insights: [],
  blind_spots: [],
};
/** Endpoints outside cost ten times as much. */
const CHEAP = { prompt: '0.000001', completion: '0.000001' };
const DEAR = { prompt: '0.00001', completion: '0.00001' };

beforeAll(async () => {
  [inside, outside] = await Promise.all([openFakeUpstream(), openFakeUpstream()]);
  const provider = (slug: string, { url }: FakeUpstream, retains: boolean) => ({
    slug,
    dialect: 'openai-chat',
    base_url: url,
    api_key: 'k',
    data_policy: { training: retains, retains_prompts: retains },
  });
  const both = [
    { provider: 'outside', model: 'x', pricing: DEAR },
    { provider: 'inside', model: 'x', pricing: CHEAP },
  ];
  const image = { output_modalities: ['text', 'image'] };
  gateway = await openTestGateway({
    providers: [provider('inside', inside, false), provider('outside', outside, true)],
    models: [
      { id: 'm/main', endpoints: both },
      { id: 'm/far', endpoints: both.slice(0, 1) },
      { id: 'm/image-far', endpoints: both.slice(0, 1), ...image },
    ],
    tools: { image_generation: { model: 'm/image-far' } },
    plugins: {
      fusion: { panel: ['m/far', 'm/main'], judge: 'm/main' },
      moderation: { provider: 'outside', model: 'judge' },
      'file-parser': { ocr: { provider: 'outside', model: 'ocr' } },
    },
  } as never);
});
beforeEach(() => {
  inside.clear();
  outside.clear();
  for (const upstream of [inside, outside]) upstream.answer((request) => stepsOf(answerTo(request), request));
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([inside.close(), outside.close()]);
});

/** The main model calls the tool that it is offered, once. */
function answerTo({ json }: RecordedRequest) {
  const told = JSON.stringify(json.messages);
  const tool = json.tools?.map((each: any) => each.function.name).find((each: string) => each in FAR);
  const isAnswered = json.messages.some(({ role }: { role: string }) => role === 'tool');
  const content: AnswerContent =
    tool === undefined || isAnswered || told.includes('NESTED')
      ? { text: told.includes('contradictions') ? JSON.stringify(ANALYSIS) : 'An answer.' }
      : { tools: [{ name: tool, arguments: JSON.stringify(ARGUMENTS), id: 'call_a' }] };
  return chatAnswer(content);
}

/** Arguments of all tools here. */
const ARGUMENTS = { prompt: 'NESTED', task_name: 'NESTED', task_description: 'NESTED' };

/** Preferences that rule out the provider outside. */
const PREFERENCES = [
  { only: ['inside'] },
  { ignore: ['outside'] },
  { max_price: { completion: 2 } },
  { order: ['inside'], allow_fallbacks: false },
  { quantizations: ['unknown'], ignore: ['Outside'] },
  { zdr: true },
  { data_collection: 'deny' },
] as const;

/** Tools that call a model which only the provider outside has. */
const FAR = {
  subagent: { type: 'signalbox:subagent', parameters: { model: 'm/far' } },
  advisor: { type: 'signalbox:advisor', parameters: { model: 'm/far', forward_transcript: true } },
  image_generation: { type: 'signalbox:image_generation' },
  fusion: { type: 'signalbox:fusion', parameters: { analysis_models: ['m/far'], model: 'm/far' } },
};

const ENABLED = { 'x-signalbox-metadata': 'enabled' };

async function ask(path: (typeof PATHS)[number], body: object) {
  const response = await gateway.post(path, { ...QUESTION[path], model: 'm/main', ...body }, ENABLED);
  return { status: response.status, body: (await response.json()) as any };
}

describe.each(PREFERENCES)('provider preferences %j of a request', (provider) => {
  it.each(Object.entries(FAR))('hold for the model of %s, which fails and says why', async (name, tool) => {
    for (const path of PATHS) {
      inside.clear();
      outside.clear();
      for (const upstream of [inside, outside])
        upstream.answer((request) => stepsOf(answerTo(request), request));
      const { status, body } = await ask(path, { provider, tools: [tool] });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(outside.requests, path).toHaveLength(0);
      expect(inside.requests, path).toHaveLength(2);
      const result = JSON.stringify(inside.requests[1]?.json.messages.at(-1));
      expect(result).toContain(
        name === 'fusion' ? 'all_panels_failed' : 'No allowed providers are available',
      );
      const noted = body.signalbox_metadata.pipeline.filter(({ summary }: any) => /No allowed/.test(summary));
      expect(noted, JSON.stringify(body.signalbox_metadata.pipeline)).toMatchObject([
        { type: 'server_tools', summary: expect.stringMatching(/outside/) },
      ]);
    }
  });

  it('hold for tools that call the model of the request', async () => {
    for (const tool of ['subagent', 'advisor']) {
      const { body } = await ask('/responses', { provider, tools: [{ type: `signalbox:${tool}` }] });
      expect(body.output[0]).toMatchObject({ status: 'completed' });
    }
    expect(outside.requests).toHaveLength(0);
    expect(inside.requests).toHaveLength(6);
  });

  it('hold for the panel and the judge of the fusion plugin and of its slug', async () => {
    for (const asked of [{ plugins: [{ id: 'fusion' }] }, { model: 'signalbox/fusion' }]) {
      inside.clear();
      inside.answer((request) => stepsOf(answerTo(request), request));
      const { status, body } = await ask('/responses', { provider, ...asked });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(outside.requests).toHaveLength(0);
      // A member of the panel, the judge and the answer; the other member has no endpoint.
      expect(inside.requests).toHaveLength(3);
      expect(JSON.stringify(body.signalbox_metadata.pipeline)).toContain(
        'No allowed providers are available for m/far',
      );
    }
  });
});

describe('services of providers', () => {
  const services = PREFERENCES.filter((each) => !('max_price' in each || 'order' in each));
  const pdf = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' };

  it.each(services)('are not called if %j rules their provider out', async (provider) => {
    const plugins = [{ id: 'moderation' }];
    const { status, body } = await ask('/chat/completions', { provider, plugins });
    expect(status).toBe(422);
    expect(body.error.metadata.issues[0]).toMatchObject({
      path: 'plugins[0]',
      message: expect.stringMatching(/^outside, the provider of this plugin, (is|may)/),
    });
    const parsed = await ask('/responses', {
      provider,
      plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }],
      input: [{ role: 'user', content: [pdf] }],
    });
    expect(parsed.status).toBe(422);
    expect(parsed.body.error.metadata.issues[0].path).toBe('plugins[0]');
    expect([...outside.requests, ...inside.requests]).toHaveLength(0);
  });

  it('are called if only prices and the order of endpoints are said', async () => {
    outside.clear();
    const body = JSON.stringify({ results: [{ flagged: false, categories: {} }] });
    outside.answer([head(200, JSON_TYPE), write(body), end()]);
    const provider = { max_price: { completion: 2 }, order: ['inside'] };
    expect((await ask('/chat/completions', { provider, plugins: [{ id: 'moderation' }] })).status).toBe(200);
    expect(outside.requests.map(({ path }) => path)).toEqual(['/v1/moderations']);
  });
});
