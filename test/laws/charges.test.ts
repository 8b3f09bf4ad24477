import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pdfOf } from '../kit/builders/pdf.ts';
import { type AnswerContent, chatAnswer } from '../kit/fakes/answers.ts';
import {
  type FakeUpstream,
  openFakeUpstream,
  reply,
  reset,
  type Script,
} from '../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../kit/gateway-harness.ts';

/** USD that the fake engine bills for a search, and the fake service for a page. */
const SEARCH_USD = 0.05;
const PAGE_USD = 0.25;
const RUN_USD = 0.02;

let upstream: FakeUpstream;
let engine: FakeUpstream;
let ocr: FakeUpstream;
let sandbox: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  [upstream, engine, ocr, sandbox] = await Promise.all([
    openFakeUpstream(),
    openFakeUpstream(),
    openFakeUpstream(),
    openFakeUpstream(),
  ]);
  const model = (id: string, pricing: object) => ({
    id,
    endpoints: [{ provider: 'acme', model: 'one', pricing }],
  });
  gateway = await openTestGateway({
    providers: [
      { slug: 'acme', dialect: 'openai-chat', base_url: upstream.url },
      { slug: 'eyes', dialect: 'openai-chat', base_url: ocr.url, api_key: 'k' },
    ],
    models: [model('m/free', {}), model('m/paid', { prompt: '0.00000001', completion: '0.0001' })],
    tools: { sandbox: { url: sandbox.url, price_per_run: RUN_USD } },
    egress: { allow: [`127.0.0.1:${engine.port}`] },
    plugins: {
      'file-parser': { ocr: { provider: 'eyes', model: 'ocr', price_per_page: PAGE_USD } },
      web: {
        engines: { searxng: { url: `http://127.0.0.1:${engine.port}`, price_per_search: SEARCH_USD } },
        default: 'searxng',
      },
    },
  } as never);
});
beforeEach(() => {
  upstream.clear();
  engine.clear();
  ocr.clear();
  sandbox.clear();
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([upstream.close(), engine.close(), ocr.close(), sandbox.close()]);
});

const RESULTS = { results: [{ url: 'https://a.test/', title: 'A', content: 'a' }] };

/** What the engine bills for the searches that it was asked for. */
const billed = () => engine.requests.length * SEARCH_USD;

const searches = (count: number): AnswerContent => ({
  tools: Array.from({ length: count }, (_, at) => ({
    name: 'web_search',
    arguments: `{"query":"${at}"}`,
    id: `call_${at}`,
  })),
});
const usage = { input: 10, output: 5 };
const answering = (...contents: AnswerContent[]): Script[] =>
  contents.map((content) => chatAnswer({ usage, ...content }));

const maxCost = (max_cost_in_dollars: number, hard = false) => ({
  stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars, hard }],
});
/** A question about a file of two pages that was not read before. */
const aboutPages = () => ({
  plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }],
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'How much?' },
        {
          type: 'input_file',
          filename: 'a.pdf',
          file_data: `data:application/pdf;base64,${pdfOf('one', String(Math.random())).toString('base64')}`,
        },
      ],
    },
  ],
});
const WEB = { plugins: [{ id: 'web' }] };
const TOOL = { tools: [{ type: 'signalbox:web_search' }] };
const DATETIME = { tools: [{ type: 'signalbox:datetime' }] };

/** Requests that pay for searches, and what may happen after that. `searches`: those that the engine runs. */
const CASES: readonly {
  readonly name: string;
  readonly body: object;
  readonly scripts: readonly Script[];
  readonly searches: number;
  readonly status: number;
}[] = [
  {
    name: 'a max_cost below the charge of a plugin, with a loop',
    body: { ...WEB, ...DATETIME, ...maxCost(0.000_000_1) },
    scripts: answering({ text: 'Found.' }),
    searches: 1,
    status: 200,
  },
  {
    name: 'a max_cost below the charge of a plugin, without a loop',
    body: { ...WEB, ...maxCost(0.000_000_1) },
    scripts: answering({ text: 'Found.' }),
    searches: 1,
    status: 200,
  },
  {
    name: 'a max_cost below the charges of a step',
    body: { ...TOOL, ...maxCost(0.000_000_1) },
    scripts: answering(searches(20), { text: 'Found.' }),
    searches: 20,
    status: 200,
  },
  {
    name: 'a hard max_cost below the charge of a plugin',
    body: { ...WEB, ...DATETIME, ...maxCost(0.01, true) },
    scripts: [],
    searches: 0,
    status: 402,
  },
  {
    name: 'a hard max_cost below the charges of a step',
    body: { ...TOOL, ...maxCost(0.12, true) },
    scripts: answering(searches(20), { text: 'Found.' }),
    searches: 2,
    status: 200,
  },
  {
    name: 'a hard max_cost, which the model passes after the charges',
    body: { ...TOOL, model: 'm/paid', max_output_tokens: 16, ...maxCost(0.11, true) },
    scripts: [
      ...answering(searches(2)),
      chatAnswer({ text: 'word '.repeat(9000), usage: { input: 10, output: 9000 } }),
    ],
    searches: 2,
    status: 200,
  },
  {
    name: 'an upstream that fails',
    body: WEB,
    scripts: [reply(500, { error: { message: 'no' } })],
    searches: 1,
    status: 502,
  },
  {
    name: 'a later leg that fails',
    body: TOOL,
    scripts: [...answering(searches(3)), reply(500, { error: { message: 'no' } })],
    searches: 3,
    status: 200,
  },
  {
    name: 'an answer without content',
    body: WEB,
    scripts: answering({ text: '' }),
    searches: 1,
    status: 200,
  },
];

describe.each(['m/free', 'm/paid'])(
  'law: what was charged is never lowered by a later stage, %s',
  (model) => {
    it.each(CASES)('$name', async ({ body, scripts, searches: expected, status }) => {
      for (let at = 0; at < 20; at += 1) engine.answer(reply(200, RESULTS));
      for (const script of scripts) upstream.answer(script);
      const response = await gateway.post('/responses', { model, input: 'What is new?', ...body });
      const text = await response.text();
      expect([response.status, engine.requests.length], text).toEqual([status, expected]);
      const id = response.headers.get('x-generation-id');
      const find = async () => {
        const found = await gateway.fetch(`/generation?id=${id}`);
        return found.status === 200 ? ((await found.json()) as any).data : undefined;
      };
      if (expected === 0) {
        expect((await find())?.total_cost ?? 0).toBe(0);
        return;
      }
      await expect.poll(find).toBeDefined();
      const { charges, total_cost, legs } = await find();
      expect(charges).toEqual(
        Array.from({ length: expected }, () => ({ kind: 'web_search', cost: SEARCH_USD })),
      );
      expect(total_cost).toBeGreaterThanOrEqual(billed() - 1e-9);
      const [condition] = (body as ReturnType<typeof maxCost>).stop_server_tools_when ?? [];
      if (condition?.hard === true) expect(total_cost).toBeLessThanOrEqual(condition.max_cost_in_dollars);
      else expect(total_cost).toBeCloseTo(billed() + costOf(legs), 9);
    });
  },
);

async function recordOf({ headers }: Response) {
  const find = async () => {
    const found = await gateway.fetch(`/generation?id=${headers.get('x-generation-id')}`);
    return found.status === 200 ? ((await found.json()) as any).data : undefined;
  };
  await expect.poll(find).toBeDefined();
  return find();
}

function costOf(legs: readonly { cost: number }[]): number {
  return legs.reduce((sum, { cost }) => sum + cost, 0);
}

describe.each(['m/free', 'm/paid'])('law: pages that a service was paid for stay charged, %s', (model) => {
  it.each([
    {
      name: 'a max_cost',
      more: maxCost(0.000_000_1),
      scripts: answering({ text: 'So.' }),
      status: 200,
      calls: 1,
    },
    { name: 'a hard max_cost', more: maxCost(0.3, true), scripts: [], status: 402, calls: 0 },
    {
      name: 'an upstream that fails',
      more: {},
      scripts: [reply(500, { error: { message: 'no' } })],
      status: 502,
      calls: 1,
    },
  ])('$name', async ({ more, scripts, status, calls }) => {
    ocr.answer(reply(200, { pages: [{ markdown: 'a' }, { markdown: 'b' }] }));
    for (const script of scripts) upstream.answer(script);
    const response = await gateway.post('/responses', { model, ...aboutPages(), ...more });
    expect([response.status, ocr.requests.length], await response.text()).toEqual([status, calls]);
    if (calls === 0) return;
    const { charges, total_cost, legs } = await recordOf(response);
    expect(charges).toEqual([{ kind: 'file_page', cost: 2 * PAGE_USD }]);
    expect(total_cost).toBeCloseTo(2 * PAGE_USD + costOf(legs), 9);
  });
});

describe('law: a run of code stays charged unless it certainly did not begin', () => {
  it.each([
    ['runs', reply(200, { exit_code: 0, stdout: 'a', stderr: '' }), RUN_USD],
    ['breaks off', [reset()], RUN_USD],
    ['answers too late for a proxy', reply(504, {}), RUN_USD],
    ['answers nonsense', reply(200, {}), RUN_USD],
    ['refuses', reply(500, {}), 0],
  ])('if the sandbox %s', async (_, script, cost) => {
    sandbox.answer(script);
    const call = { name: 'bash', arguments: '{"command":"ls"}', id: 'call_b' };
    for (const each of answering({ tools: [call] }, { text: 'Done.' })) upstream.answer(each);
    const tools = [{ type: 'signalbox:bash' }];
    const body = { model: 'm/free', input: 'List.', tools, ...maxCost(0.000_000_1) };
    const response = await gateway.post('/responses', body);
    expect([response.status, sandbox.requests.length], await response.text()).toEqual([200, 1]);
    const { charges, total_cost, tool_calls } = await recordOf(response);
    expect(charges).toEqual(cost === 0 ? [] : [{ kind: 'tool', cost }]);
    expect([total_cost, tool_calls[0].cost]).toEqual([cost, cost]);
  });
});

it('a plugin that has cost max_cost leaves one leg without tools', async () => {
  engine.answer(reply(200, RESULTS));
  for (const script of answering({ text: 'Found.' })) upstream.answer(script);
  const body = { model: 'm/free', input: 'What is new?', ...WEB, ...DATETIME, ...maxCost(SEARCH_USD) };
  const response = await gateway.post('/responses', body, { 'x-signalbox-metadata': 'enabled' });
  const answer = (await response.json()) as any;
  expect(upstream.requests.map(({ json }) => json.tool_choice)).toEqual(['none']);
  expect(answer.signalbox_metadata.pipeline.at(-1)).toMatchObject({
    name: 'tool-loop',
    data: { steps: 0, stopped_by: 'max_cost', cost: SEARCH_USD },
  });
});
