import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AnswerContent, chatAnswer } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  openFakeUpstream,
  reply,
  reset,
  type Script,
  SSE,
  stepsOf,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';
import { openToolGateway } from './tool-gateway.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

/** Prices in USD for a million tokens; `legs` is how many run until the loop ends. */
const REALISTIC_LOOPS = [
  // Small limits: the first leg alone costs more.
  { words: 10, prompt: 3, output: 15, max: 0.0005, legs: 2 },
  { words: 200, prompt: 3, output: 15, max: 0.0005, legs: 2 },
  { words: 2000, prompt: 3, output: 15, max: 0.005, legs: 2 },
  { words: 20_000, prompt: 3, output: 15, max: 0.05, legs: 2 },
  { words: 10, prompt: 15, output: 75, max: 0.000001, legs: 2 },
  // The next leg would pass it.
  { words: 10, prompt: 3, output: 15, max: 0.0013, legs: 3 },
  { words: 200, prompt: 3, output: 15, max: 0.003, legs: 3 },
  { words: 2000, prompt: 3, output: 15, max: 0.01, legs: 2 },
  { words: 2000, prompt: 3, output: 15, max: 0.0145, legs: 3 },
  { words: 20_000, prompt: 3, output: 15, max: 0.2, legs: 4 },
  { words: 10, prompt: 15, output: 75, max: 0.01, legs: 4 },
  { words: 200, prompt: 15, output: 75, max: 0.02, legs: 4 },
  { words: 2000, prompt: 15, output: 75, max: 0.1, legs: 4 },
  { words: 10, prompt: 0.1, output: 0.4, max: 0.00005, legs: 3 },
  { words: 2000, prompt: 0.1, output: 0.4, max: 0.0007, legs: 4 },
];
const REALISTIC_PRICES = [
  [3, 15],
  [15, 75],
  [0.1, 0.4],
];

/** 3 and 15 USD for a million tokens. */
const REAL_ENDPOINT = {
  provider: 'acme',
  model: 'one',
  pricing: { prompt: '0.000003', completion: '0.000015' },
};

const maxCost = (max_cost_in_dollars: number, hard?: boolean) => ({
  stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars, ...(hard && { hard }) }],
});

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url }],
    models: [
      { id: 'm/free', endpoints: [{ provider: 'acme', model: 'one' }] },
      // Prompts are dear: what upstreams may add for tools costs more than a whole leg.
      {
        id: 'm/wordy',
        endpoints: [
          { provider: 'acme', model: 'one', pricing: { prompt: '0.00001', completion: '0.00003' } },
        ],
      },
      {
        id: 'm/long',
        max_output_tokens: 4000,
        endpoints: [{ provider: 'acme', model: 'one', pricing: { completion: '0.0001' } }],
      },
      ...REALISTIC_PRICES.map(([prompt = 0, output = 0]) => ({
        id: `m/real-${prompt}-${output}`,
        context_length: 200_000,
        endpoints: [
          {
            provider: 'acme',
            model: 'one',
            pricing: { prompt: (prompt / 1e6).toFixed(9), completion: (output / 1e6).toFixed(9) },
          },
        ],
      })),
      // Two of the same price: lengths of answers are learnt for each model.
      ...['m/paid', 'm/endless'].map((id) => ({
        id,
        endpoints: [
          { provider: 'acme', model: 'one', pricing: { prompt: '0.00000001', completion: '0.0001' } },
        ],
      })),
    ],
    tools: { limits: { steps: 4 } },
  } as never);
});
beforeEach(() => upstream.clear());
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const DATETIME = { type: 'signalbox:datetime' };
const CALL = { name: 'datetime', arguments: '{}' };
const USAGE = { input: 10, output: 5 };

function answers(...contents: AnswerContent[]): void {
  for (const content of contents) upstream.answer(chatAnswer({ usage: USAGE, ...content }));
}

async function ask(more: object = {}) {
  const body = { model: 'm/free', input: 'Time?', tools: [DATETIME], ...more };
  const response = await gateway.post('/responses', body, { 'x-signalbox-metadata': 'enabled' });
  return { response, body: (await response.json()) as any };
}

const choices = () => upstream.requests.map(({ json }) => json.tool_choice ?? null);
const lastToolResult = (leg: number) =>
  upstream.requests[leg]?.json.messages
    .filter(({ role }: any) => role === 'tool')
    .map((each: any) => each.content);
const calling = (count: number): AnswerContent[] =>
  Array.from({ length: count }, (_, index) => ({ tools: [{ ...CALL, id: `call_${index}` }] }));

describe('the end of a loop', () => {
  it.each([
    ['steps', {}, 4],
    ['max_tool_calls', { max_tool_calls: 2 }, 2],
    ['step_count_is', { stop_server_tools_when: [{ type: 'step_count_is', step_count: 3 }] }, 3],
    [
      'has_tool_call',
      { stop_server_tools_when: [{ type: 'has_tool_call', tool_name: 'signalbox:datetime' }] },
      1,
    ],
    ['max_tokens_used', { stop_server_tools_when: [{ type: 'max_tokens_used', max_tokens: 20 }] }, 2],
    ['finish_reason_is', { stop_server_tools_when: [{ type: 'finish_reason_is', reason: 'tool_calls' }] }, 1],
  ])('comes by %s, in words of the model', async (name, wishes, steps) => {
    answers(...calling(steps), { text: 'Enough.' });
    const { body } = await ask(wishes);
    expect(choices()).toEqual([...Array.from({ length: steps }, () => null), 'none']);
    expect(body.status).toBe('completed');
    expect(body.output.at(-1).content[0].text).toBe('Enough.');
    expect(body.signalbox_metadata.pipeline[0].data).toMatchObject({ steps, stopped_by: name });
  });

  it('counts steps, not the calls of a step, for max_tool_calls', async () => {
    const three = ['a', 'b', 'c'].map((id) => ({ ...CALL, id }));
    answers({ tools: three }, { tools: [{ ...CALL, id: 'd' }] }, { text: 'Enough.' });
    const { body } = await ask({ max_tool_calls: 2 });
    expect(choices()).toEqual([null, null, 'none']);
    expect(body.output.map(({ status }: any) => status)).toEqual(
      Array.from({ length: 5 }, () => 'completed'),
    );
  });

  it('comes although the model goes on calling tools', async () => {
    answers(...calling(5));
    const { body } = await ask();
    expect(upstream.requests).toHaveLength(5);
    expect(body.output).toHaveLength(4);
  });

  it.each([
    ['with words', { text: 'It is late.' }],
    ['without words', {}],
  ])('comes at once if no tool may be called and the model calls one %s', async (_, words) => {
    answers({ ...words, tools: [{ ...CALL, id: 'call_0' }] }, { text: 'Again.' });
    const { response, body } = await ask({ tool_choice: 'none' });
    expect(response.status).toBe(200);
    expect(choices()).toEqual(['none']);
    expect(body.status).toBe('incomplete');
    expect(body.output.filter(({ type }: any) => type !== 'message')).toEqual([]);
  });

  it('comes by max_cost when the next leg would pass it, in words of the model', async () => {
    // Each leg costs half a thousandth of a dollar: after three of them a fourth would pass the amount.
    answers(...calling(3), { text: 'Enough.' });
    const { body } = await ask({ model: 'm/paid', max_output_tokens: 16, ...maxCost(0.0017) });
    expect(body.status, JSON.stringify(body)).toBe('completed');
    expect(body.output.at(-1).content[0].text).toBe('Enough.');
    expect(choices()).toEqual([null, null, null, 'none']);
    expect(body.usage.cost).toBeCloseTo(0.002, 5);
    expect(body.signalbox_metadata.pipeline[0].data).toMatchObject({ stopped_by: 'max_cost' });
    expect(body.signalbox_metadata.pipeline[0].data.cost).toBeCloseTo(body.usage.cost, 9);
    // It is no limit of a leg.
    expect(upstream.requests.map(({ json }) => json.max_tokens ?? json.max_completion_tokens)).toEqual(
      Array.from({ length: 4 }, () => 16),
    );
  });

  it.each(REALISTIC_LOOPS)('of $words words for $prompt, $output by max_cost $max is text', async (loop) => {
    const { words, prompt, output, max, legs } = loop;
    const usage = { input: words, output: 40 };
    const model = `m/real-${prompt}-${output}`;
    answers(...calling(legs - 1).map((content) => ({ ...content, usage })), { text: 'Enough.', usage });
    const input = 'word '.repeat(words);
    const { response, body } = await ask({ model, input, ...maxCost(max) });
    expect(response.status, JSON.stringify(body.error)).toBe(200);
    expect([body.status, body.output.at(-1).content[0].text]).toEqual(['completed', 'Enough.']);
    const sent = upstream.requests.map(({ json }) => [json.tool_choice ?? null, json.max_tokens ?? null]);
    expect(sent).toEqual(sent.map((_, at) => [at === legs - 1 ? 'none' : null, null]));
    expect(sent).toHaveLength(legs);
    // Passed by one leg at most.
    const ofLeg = (words * prompt + 40 * output) / 1e6;
    expect(body.usage.cost).toBeCloseTo(legs * ofLeg, 6);
    expect(body.usage.cost).toBeLessThanOrEqual(Math.max(max, ofLeg) + ofLeg + 1e-9);
    expect(body.signalbox_metadata.pipeline[0].data.stopped_by).toBe('max_cost');
  });

  it.each(['/responses', '/messages', '/chat/completions'])(
    'comes by max_cost 0 after the first leg on %s',
    async (path) => {
      answers(...calling(1), { text: 'Enough.' });
      const messages = [{ role: 'user', content: 'Time?' }];
      const question = path === '/responses' ? { input: 'Time?' } : { messages, max_tokens: 99 };
      const asked = { model: 'm/paid', tools: [DATETIME], ...question, ...maxCost(0) };
      const response = await gateway.post(path, asked);
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Enough.')]);
      expect(choices().map((choice: any) => choice?.type ?? choice)).toEqual([null, 'none']);
    },
  );

  it('comes by max_cost in the loop of a nested model too', async () => {
    const subagent = { type: 'signalbox:subagent', parameters: { model: 'm/paid', tools: [DATETIME] } };
    const asking = {
      name: 'subagent',
      arguments: '{"task_description":"look","task_name":"t"}',
      id: 'call_s',
    };
    answers({ tools: [asking] }, ...calling(1), { text: 'Inner.' }, { text: 'Outer.' });
    const { body } = await ask({ model: 'm/paid', tools: [subagent], ...maxCost(0.0012) });
    expect(body.output.at(-1).content[0].text, JSON.stringify(body)).toBe('Outer.');
    expect(choices()).toEqual([null, null, 'none', 'none']);
  });

  it('leaves a last turn within a hard max_cost_in_dollars', async () => {
    const max = 0.0145;
    // Each leg costs three thousandths of a dollar; before the first one a hundredth must be reserved.
    const usage = { input: 240, output: 20 };
    const most = Math.floor(max / 0.003);
    const legs = calling(most - 1).map((content) => chatAnswer({ ...content, usage }));
    for (const script of [...legs, chatAnswer({ text: 'Enough.', usage })]) upstream.answer(script);
    const { body } = await ask({ model: 'm/wordy', ...maxCost(max, true) });
    expect(body.status, JSON.stringify(body.signalbox_metadata.pipeline)).toBe('completed');
    expect(body.output.at(-1).content[0].text).toBe('Enough.');
    expect(choices()).toEqual([...Array.from({ length: most - 1 }, () => null), 'none']);
    expect(body.usage.cost).toBeLessThanOrEqual(max);
    expect(body.usage.cost).toBeGreaterThan(max - 0.003);
  });

  it.each([600, 2000, 6000])(
    'is text within a hard limit though results of %d words are dear',
    async (words) => {
      const page = 'several plain words of text '.repeat(words / 5);
      const site = await openFakeUpstream();
      const models = [{ id: 'm/paid', context_length: 400_000, endpoints: [REAL_ENDPOINT] }];
      const providers = [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url }];
      const egress = { allow: [`127.0.0.1:${site.port}`] };
      const reading = await openTestGateway({ providers, models, egress } as never);
      site.answer(() => [head(200, { 'content-type': 'text/plain' }), write(page), end()]);
      upstream.answer((request) => {
        const usage = { input: Math.round(JSON.stringify(request.json).length / 4.3), output: 60 };
        const url = `http://127.0.0.1:${site.port}/${upstream.requests.length}`;
        const call = {
          id: `c${upstream.requests.length}`,
          name: 'web_fetch',
          arguments: JSON.stringify({ url }),
        };
        const isLast = request.json.tool_choice === 'none';
        return stepsOf(chatAnswer(isLast ? { text: 'Read.', usage } : { tools: [call], usage }), request);
      });
      for (const max of [0.05, 0.1, 0.25]) {
        const asked = { model: 'm/paid', input: 'Read.', tools: [{ type: 'signalbox:web_fetch' }] };
        const response = await reading.post('/responses', { ...asked, ...maxCost(max, true) });
        const body = (await response.json()) as any;
        expect([max, body.status, body.output.at(-1).content?.[0].text]).toEqual([max, 'completed', 'Read.']);
        expect(body.usage.cost).toBeLessThanOrEqual(max);
      }
      await Promise.all([reading.close(), site.close()]);
    },
  );

  it('is refused before it begins if a hard max_cost_in_dollars is too low, with the amount', async () => {
    const { response, body } = await ask({ model: 'm/wordy', ...maxCost(0.005, true) });
    expect(response.status).toBe(402);
    expect(body.error.message).toMatch(/^max_cost_in_dollars does not pay .*\$0\.01\d+ must be reserved$/);
  });

  it('is no part of a request without server tools, unless max_cost is hard', async () => {
    const asked = { model: 'm/wordy', tools: undefined };
    answers({ text: 'Noon.' });
    const soft = await ask({ ...asked, ...maxCost(0.000001) });
    expect(soft.body.signalbox_metadata.translation).toContainEqual(
      expect.objectContaining({ field: 'stop_server_tools_when', action: 'dropped' }),
    );
    const hard = await ask({ ...asked, ...maxCost(0.000001, true) });
    expect([soft.response.status, hard.response.status]).toEqual([200, 402]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('comes with shorter legs within the limit of a key', async () => {
    const made = await gateway.fetch('/keys', {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.managementKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'tight', limit: 0.45 }),
    });
    const { key } = (await made.json()) as { key: string };
    const usage = { input: 10, output: 800 };
    for (const content of calling(3)) upstream.answer(chatAnswer({ ...content, usage }));
    upstream.answer(chatAnswer({ text: 'Enough.', usage }));
    const body = { model: 'm/long', input: 'Time?', tools: [DATETIME] };
    const response = await gateway.post('/responses', body, { authorization: `Bearer ${key}` });
    const answer = (await response.json()) as any;
    expect(answer.status, JSON.stringify(answer)).toBe('completed');
    expect(answer.usage.cost).toBeCloseTo(0.32);
    const limits = upstream.requests.map(({ json }) => json.max_tokens ?? json.max_completion_tokens);
    expect(limits[0] ?? 4000).toBe(4000);
    expect(limits[3]).toBeLessThanOrEqual(2100);
  });

  describe.each([false, true])('of an upstream that ignores its output limit, stream %s', (stream) => {
    const MAX = 0.0022;
    const WORDS = 2000;
    const overrun = (): Script => {
      const usage = { prompt_tokens: 10, completion_tokens: WORDS };
      const content = 'word '.repeat(WORDS);
      const chunk = (delta: object, more = {}) =>
        `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, ...more }] })}\n\n`;
      const pieces = Array.from({ length: WORDS }, () => chunk({ content: 'word ' })).join('');
      const last = `${chunk({}, { finish_reason: 'stop' })}data: ${JSON.stringify({ choices: [], usage })}\n\n`;
      const message = { role: 'assistant', content };
      return stream
        ? [head(200, SSE), write(pieces, [2000, 4000, 8000]), write(`${last}data: [DONE]\n\n`), end()]
        : reply(200, { id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }], usage });
    };

    it('comes before the caller is charged more than a hard max_cost_in_dollars', async () => {
      answers(...calling(1));
      upstream.answer(overrun());
      const asked = { model: 'm/endless', input: 'Time?', tools: [DATETIME], max_output_tokens: 16, stream };
      const response = await gateway.post('/responses', { ...asked, ...maxCost(MAX, true) });
      const id = response.headers.get('x-generation-id');
      const events = stream ? await readEvents(response) : [];
      const body = stream ? events.at(-2)?.data.response : ((await response.json()) as any);
      expect(body.usage.cost, JSON.stringify(body.usage)).toBeLessThanOrEqual(MAX);
      expect(body.usage.cost).toBeGreaterThan(MAX / 2);
      const record = ((await (await gateway.fetch(`/generation?id=${id}`)).json()) as any).data;
      expect(record.total_cost).toBeLessThanOrEqual(MAX);
      const text = body.output.at(-1).content[0].text as string;
      if (stream) {
        // The upstream is cut off: what it goes on to write reaches no caller.
        expect(body.status).toBe('incomplete');
        expect(text.split(' ').length).toBeLessThan(WORDS / 2);
      } else {
        expect(record.written_off).toBeGreaterThan(0);
        expect(record.written_off_cause).toBe('output');
      }
    });
  });

  it('comes with a note if the rest of a hard max_cost_in_dollars pays for no further leg', async () => {
    answers(...calling(1), { text: 'Never.' });
    const { body } = await ask({ model: 'm/paid', max_output_tokens: 6, ...maxCost(0.0006, true) });
    expect(upstream.requests).toHaveLength(1);
    expect(body.usage.cost).toBeLessThanOrEqual(0.0006);
    expect(body).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    expect(body.signalbox_metadata.pipeline.map(({ name }: any) => name)).toContain('budget');
    upstream.clear();
    const { response } = await ask({ model: 'm/paid', ...maxCost(0.00001, true) });
    expect(response.status).toBe(402);
    expect(upstream.requests).toEqual([]);
  });
});

describe('calls', () => {
  it('beyond 64 in one step are not run, and the model gets an error for each', async () => {
    const calls = Array.from({ length: 66 }, (_, at) => ({ ...CALL, arguments: '{}', id: `call_${at}` }));
    answers({ tools: calls }, { text: 'Sorry.' });
    const { body } = await ask();
    const errors = lastToolResult(1).map((text: string) => JSON.parse(text).error);
    expect(errors).toEqual([
      ...Array.from({ length: 64 }, () => undefined),
      'not run: a step has at most 64 calls',
      'not run: a step has at most 64 calls',
    ]);
    expect(body.usage.server_tool_use_details).toMatchObject({
      tool_calls_requested: 66,
      tool_calls_executed: 64,
    });
  });

  it('of tools that do not exist, and with wrong arguments, give the model an error', async () => {
    const calls = [
      { name: 'nonsense', arguments: '{}', id: 'call_a' },
      { ...CALL, arguments: '{"timezone": 5}', id: 'call_b' },
      { ...CALL, arguments: 'no JSON', id: 'call_c' },
      { ...CALL, arguments: '{"timezone":"Moon/Sea"}', id: 'call_d' },
    ];
    answers({ tools: calls }, { text: 'Sorry.' });
    const { body } = await ask();
    expect(lastToolResult(1).map((text: string) => JSON.parse(text).error)).toEqual([
      'there is no tool "nonsense"',
      'the arguments do not fit the schema of the tool: timezone: must be of type string',
      'the arguments are no JSON object',
      'the time zone is unknown: use an IANA name',
    ]);
    const turn = upstream.requests[1]?.json.messages.find(({ tool_calls: made }: any) => made);
    // Some upstreams refuse arguments that are no JSON.
    expect(turn.tool_calls[2].function.arguments).toBe('{"raw":"no JSON"}');
    expect(body.output.map(({ status }: any) => status)).toEqual(['failed', 'failed', 'failed', 'completed']);
    expect(body.usage.server_tool_use_details).toEqual({
      web_search_requests: 0,
      tool_calls_requested: 4,
      tool_calls_executed: 1,
    });
  });

  it('of the caller end the answer after those of the server were run', async () => {
    const own = { type: 'function', name: 'mine', parameters: { type: 'object', properties: {} } };
    answers({
      tools: [
        { ...CALL, id: 'call_s' },
        { name: 'mine', arguments: '{}', id: 'call_m' },
      ],
    });
    const { body } = await ask({ tools: [DATETIME, own] });
    expect(upstream.requests).toHaveLength(1);
    const kinds = body.output.map(({ type, status }: any) => [type, status]);
    expect(kinds).toEqual([
      ['signalbox:datetime', 'completed'],
      ['function_call', 'completed'],
    ]);
    // The caller goes on with both results.
    upstream.clear();
    answers({ text: 'Done.' });
    const result = { type: 'function_call_output', call_id: 'call_m', output: 'yes' };
    await ask({ tools: [DATETIME, own], input: [{ role: 'user', content: 'Go' }, ...body.output, result] });
    const messages = upstream.requests[0]?.json.messages;
    const steps = messages
      .slice(1)
      .map(({ tool_calls, tool_call_id }: any) => tool_call_id ?? tool_calls.map(({ id }: any) => id));
    expect(steps).toEqual([['call_s'], 'call_s', ['call_m'], 'call_m']);
  });

  it('of a server tool with a name of the caller have another name', async () => {
    const own = { type: 'function', name: 'datetime', parameters: { type: 'object', properties: {} } };
    answers(
      { tools: [{ name: 'datetime_server_2', arguments: '{}' }] },
      { tools: [{ ...CALL, id: 'call_o' }] },
    );
    const { body } = await ask({ tools: [DATETIME, own], tool_choice: { type: 'signalbox:datetime' } });
    expect(body.output.map(({ type }: any) => type)).toEqual(['signalbox:datetime', 'function_call']);
    expect(choices()).toEqual([{ type: 'function', function: { name: 'datetime_server_2' } }, 'auto']);
  });

  it.each([
    ['/responses', { input: 'Time?' }, { type: 'function', name: 'datetime' }],
    ['/responses', { input: 'Time?' }, { type: 'datetime' }],
    [
      '/responses',
      { input: 'Time?' },
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'datetime' }] },
    ],
    [
      '/chat/completions',
      { messages: [{ role: 'user', content: 'Time?' }] },
      { type: 'function', function: { name: 'datetime' } },
    ],
    [
      '/messages',
      { max_tokens: 99, messages: [{ role: 'user', content: 'Time?' }] },
      { type: 'tool', name: 'datetime' },
    ],
  ])('are forced by the name of a server tool, %s %j %j', async (path, question, tool_choice) => {
    answers(...calling(1), { text: 'Noon.' });
    const response = await gateway.post(path, {
      model: 'm/free',
      tools: [DATETIME],
      tool_choice,
      ...question,
    });
    expect(response.status, await response.text()).toBe(200);
    const [first, second] = choices();
    expect([first, second]).not.toContain(null);
    expect(JSON.stringify(first)).toMatch(/datetime|required/);
    expect(JSON.stringify(second)).toContain('auto');
  });

  it('are forced by the hosted type that a server tool stands for', async () => {
    answers({ text: 'Noon.' });
    await ask({ tools: [{ type: 'signalbox:web_fetch' }], tool_choice: { type: 'web_fetch_20250910' } });
    expect(choices()[0]).toEqual({ type: 'function', function: { name: 'web_fetch' } });
  });

  it('are not possible with max_tool_calls 0, which leaves the tools of the caller', async () => {
    const own = { type: 'function', name: 'mine', parameters: { type: 'object', properties: {} } };
    answers({ text: 'No idea.' });
    const { body } = await ask({ max_tool_calls: 0 });
    expect(body.status).toBe('completed');
    expect(choices()).toEqual(['none']);
    upstream.clear();
    answers({ tools: [{ name: 'mine', arguments: '{}', id: 'call_m' }] });
    const mixed = await ask({ max_tool_calls: 0, tools: [DATETIME, own] });
    expect(upstream.requests[0]?.json.tools.map((tool: any) => tool.function.name)).toEqual(['mine']);
    expect(mixed.body.output.map(({ type }: any) => type)).toEqual(['function_call']);
  });

  it('are in the record, with the legs', async () => {
    answers(
      {
        tools: [
          { ...CALL, id: 'a' },
          { ...CALL, id: 'b' },
        ],
      },
      { text: 'Noon.' },
    );
    const { response } = await ask({ model: 'm/paid' });
    const id = response.headers.get('x-generation-id');
    const find = async () => {
      const reply = await gateway.fetch(`/generation?id=${id}`);
      return reply.status === 200 ? ((await reply.json()) as any).data : undefined;
    };
    await expect.poll(find).toBeDefined();
    const record = await find();
    expect(record.legs).toMatchObject([
      { kind: 'main', tokens_prompt: 10, status: 'completed' },
      { kind: 'main', tokens_prompt: 10, status: 'completed' },
    ]);
    for (const { started_at, duration_ms } of record.legs) {
      expect(Date.parse(started_at)).toBeGreaterThanOrEqual(Date.parse(record.created_at));
      expect(duration_ms).toBeGreaterThanOrEqual(0);
    }
    expect(record.legs[0].started_at <= record.tool_calls[0].started_at).toBe(true);
    expect(record.tool_calls).toHaveLength(2);
    expect(record.tool_calls[0]).toMatchObject({
      name: 'datetime',
      leg: 1,
      outcome: 'ok',
      cost: 0,
      input_characters: 2,
      error: null,
    });
    expect(record.tool_calls[0].output_characters).toBeGreaterThan(20);
    expect(record.total_cost).toBeCloseTo(0.001);
    expect(record.legs[0].cost + record.legs[1].cost).toBeCloseTo(record.total_cost, 9);
  });
});

describe('a request', () => {
  const issues = async (path: string, more: object) => {
    const messages = [{ role: 'user', content: 'Time?' }];
    const question = path === '/responses' ? { input: 'Time?' } : { messages, max_tokens: 99 };
    const response = await gateway.post(path, { model: 'm/free', tools: [DATETIME], ...question, ...more });
    const { error } = (await response.json()) as any;
    return [response.status, JSON.stringify(error?.metadata?.issues ?? error)];
  };

  it.each(['/responses', '/messages', '/chat/completions'])(
    'has a valid max_tool_calls on %s',
    async (path) => {
      for (const max_tool_calls of [-1, 1.5]) {
        const [status, message] = await issues(path, { max_tool_calls });
        expect([status, message]).toEqual([400, expect.stringContaining('max_tool_calls')]);
      }
      expect(upstream.requests).toEqual([]);
    },
  );

  it('has each server tool once', async () => {
    const [status, message] = await issues('/responses', { tools: [DATETIME, DATETIME] });
    expect([status, message]).toEqual([400, expect.stringContaining('tools[1].type')]);
  });

  it('is refused with all problems of a tool that calls models', async () => {
    const parameters = { tools: [{ type: 'function' }], max_tool_calls: 99 };
    const tools = [{ type: 'signalbox:subagent', parameters }];
    const [status, message] = await issues('/responses', { tools });
    expect(status).toBe(400);
    expect(message).toContain('tools[0].parameters.max_tool_calls');
    expect(message).toContain('tools[0].parameters.tools[0].type');
  });
});

describe('a later leg', () => {
  it('that fails ends the answer in band, with what there is', async () => {
    answers(...calling(3));
    upstream.answer([reset()]);
    const body = { model: 'm/paid', input: 'Time?', tools: [DATETIME], stream: true };
    const response = await gateway.post('/responses', body);
    const events = await readEvents(response);
    const last = events.at(-2)?.data;
    expect(last.type).toBe('response.failed');
    expect(last.response.output).toHaveLength(3);
    expect(last.response.usage.cost).toBeCloseTo(0.0015);
  });
});

it('costs what its legs cost together, rounded once', async () => {
  const price = '0.0000000010004';
  const cheap = await openToolGateway({
    models: [
      {
        id: 'm/chat',
        endpoints: [{ provider: 'chatter', model: 'one', pricing: { prompt: price, completion: price } }],
      },
    ],
  });
  try {
    const usage = { input: 900, output: 100 };
    const calling = { tools: [{ name: 'datetime', arguments: '{}' }], usage };
    cheap.answers('m/chat', calling, calling, { text: 'Noon.', usage });
    const { body } = await cheap.ask('/responses', 'm/chat', { tools: [{ type: 'signalbox:datetime' }] });
    // Three legs of 1,000.4 billionths of a dollar.
    expect(body.usage.cost).toBe(0.000003001);
  } finally {
    await cheap.close();
  }
});
