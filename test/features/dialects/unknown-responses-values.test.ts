import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, messagesAnswer, responsesAnswer, sse } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  SSE,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

const CACHE_PRICES = { input_cache_write: '0.00000125', input_cache_write_1h: '0.000002' };
const SAID = {
  type: 'message',
  id: 'msg_u',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'ok', annotations: [] }],
};

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const pricing = { prompt: '0.000001', completion: '0.000002', ...CACHE_PRICES };
  gateway = await openTestGateway({
    providers: [
      { slug: 'p-responses', dialect: 'openai-responses', base_url: upstream.url, api_key: 'k' },
      { slug: 'p-chat', dialect: 'openai-chat', base_url: upstream.url, api_key: 'k' },
      { slug: 'p-messages', dialect: 'anthropic-messages', base_url: upstream.url, api_key: 'k' },
    ],
    models: ['responses', 'chat', 'messages'].map((format) => ({
      id: `up/${format}`,
      max_output_tokens: 8000,
      input_modalities: ['text', 'image'],
      endpoints: [{ provider: `p-${format}`, model: 'm', pricing, unpriced: 'allow' }],
    })),
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

async function ask(model: string, body: object) {
  const response = await gateway.post(
    '/responses',
    { model, input: 'hi', store: false, ...body },
    { 'X-Signalbox-Metadata': 'enabled' },
  );
  const answer = (await response.json()) as any;
  const entries = (answer.signalbox_metadata?.translation ?? []) as { field: string; action: string }[];
  return {
    status: response.status,
    answer,
    report: entries.map(({ field, action }) => `${field} ${action}`),
    sent: upstream.requests.at(-1)?.json,
  };
}

const said = (...items: object[]) => [...items, { role: 'user', content: 'and?' }];

/** Values of the newest releases, all of which an upstream of the same format gets as they are. */
const KNOWN = [
  { prompt_cache_options: { ttl: '12h' } },
  { prompt_cache_options: { mode: 'implicit' } },
  {
    input: said({
      type: 'web_search_call',
      id: 'ws_1',
      status: 'incomplete',
      action: { type: 'search', query: 'q' },
    }),
  },
  { input: said({ type: 'file_search_call', id: 'fs_1', status: 'incomplete', queries: ['q'] }) },
  { tools: [{ type: 'image_generation', output_format: 'gif', quality: 'max' }] },
  { tools: [{ type: 'image_generation', output_format: 'svg', quality: 'xhigh' }] },
  {
    tools: [
      { type: 'file_search', vector_store_ids: ['v'], filters: { type: 'in', key: 'a', value: ['b'] } },
    ],
  },
  { tools: [{ type: 'computer' }], tool_choice: { type: 'computer' } },
  { tools: [{ type: 'programmatic_tool_calling' }], tool_choice: { type: 'programmatic_tool_calling' } },
  { tools: [{ type: 'tool_search' }] },
  { tools: [{ type: 'x_search', allowed_x_handles: ['a'] }], tool_choice: { type: 'x_search' } },
];

const F = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false };
const CHAT_F = { type: 'function', function: { name: 'f' } };

/** Values that nothing here knows, with their place. */
const UNKNOWN: readonly (readonly [object, string])[] = [
  [{ include: ['next.year'] }, 'include[0]'],
  [{ text: { verbosity: 'chatty' } }, 'text.verbosity'],
  [{ text: { format: { type: 'xml', root: 'a' } } }, 'text.format.type'],
  [{ reasoning: { summary: 'sung' } }, 'reasoning.summary'],
  [{ reasoning: { effort: 'extreme' } }, 'reasoning.effort'],
  [{ truncation: 'middle' }, 'truncation'],
  [{ modalities: ['text', 'smell'] }, 'modalities[1]'],
  [{ tools: [{ type: 'oracle', of: 'f' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'web_search_2099_01_01' }] }, 'tools[0].type'],
  [{ tools: [F], tool_choice: 'sometimes' }, 'tool_choice'],
  [{ tools: [F], tool_choice: { type: 'oracle', of: 'f' } }, 'tool_choice.type'],
  [
    {
      tools: [F],
      tool_choice: { type: 'allowed_tools', mode: 'twice', tools: [{ type: 'function', name: 'f' }] },
    },
    'tool_choice.mode',
  ],
  [{ prompt_cache_options: { mode: 'magic' } }, 'prompt_cache_options.mode'],
  [
    { input: [{ role: 'user', content: [{ type: 'input_smell', smell: 'rose' }] }] },
    'input[0].content[0].type',
  ],
  [
    {
      input: [
        {
          role: 'user',
          content: [{ type: 'input_image', image_url: 'https://example.com/a.png', detail: 'z' }],
        },
      ],
    },
    'input[0].content[0].detail',
  ],
];

describe('a value of the responses format that is new', () => {
  it.each(KNOWN)('goes to an upstream of the format as it is: %j', async (body) => {
    upstream.answer(responsesAnswer({ text: 'ok' }));
    const { status, sent, report } = await ask('up/responses', body);
    expect({ status, report }).toEqual({ status: 200, report: [] });
    expect(sent).toMatchObject(body);
  });

  it.each(UNKNOWN)('is passed on, and the report says so: %j', async (body, place) => {
    upstream.answer(responsesAnswer({ text: 'ok' }));
    const { status, sent, report } = await ask('up/responses', body);
    expect({ status, report }).toEqual({ status: 200, report: [`${place} passed_on`] });
    expect(sent).toMatchObject(body);
  });

  it.each(UNKNOWN)('is passed on where the gateway runs a tool beside it: %j', async (body, place) => {
    upstream.answer(responsesAnswer({ text: 'ok' }));
    const { tools = [] } = body as { tools?: object[] };
    const clock = { type: 'signalbox:datetime' };
    const { status, sent, report } = await ask('up/responses', { ...body, tools: [...tools, clock] });
    expect({ status, report }).toEqual({ status: 200, report: [`${place} passed_on`] });
    const { tools: _sent, input, ...settings } = body as { tools?: object[]; input?: object[] };
    expect(sent).toMatchObject({ ...settings, ...(input !== undefined && { input }) });
  });

  it.each([...KNOWN, ...UNKNOWN.map(([body]) => body)])('is no 400 at other upstreams: %j', async (body) => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { status, answer } = await ask('up/chat', body);
    expect(status, JSON.stringify(answer)).toBe(200);
  });

  it.each(UNKNOWN)('is not lost without an entry at other upstreams: %j', async (body, place) => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { report } = await ask('up/chat', body);
    const named = report.map((entry) => entry.split(' ')[0] ?? '');
    expect(
      named.some((field) => place.startsWith(field)),
      report.join(),
    ).toBe(true);
  });

  it.each(['ultrafast', 'gold'])('is not sent if it is a tier without a price: %s', async (service_tier) => {
    upstream.answer(responsesAnswer({ text: 'ok' }));
    const { status, sent, report } = await ask('up/responses', { service_tier });
    expect({ status, report }).toEqual({ status: 200, report: ['service_tier dropped'] });
    expect(sent).not.toHaveProperty('service_tier');
  });
});

describe('the tier that an upstream says has served', () => {
  const clock = { type: 'signalbox:datetime' };
  const lanes = { relayed: {}, translated: { tools: [clock] } };
  const cases = Object.entries(lanes).flatMap(([lane, more]) =>
    [false, true].map((stream) => ({ lane, more, stream })),
  );

  it.each(cases)('is the tier of the answer: $lane, stream: $stream', async ({ lane, more, stream }) => {
    const body = { id: 'r', object: 'response', status: 'completed', output: [SAID] };
    const shown: Record<string, string> = {};
    for (const service_tier of ['auto', 'default', 'flex', 'scale', 'fast', 'ultrafast', 'brisk']) {
      upstream.clear();
      const data = { type: 'response.completed', response: { ...body, service_tier } };
      upstream.answer(
        stream
          ? [head(200, SSE), write(sse([{ event: data.type, data }])), end()]
          : [head(200, JSON_TYPE), write(JSON.stringify(data.response)), end()],
      );
      const asked = { model: 'up/responses', input: 'hi', stream, ...more };
      const text = await (await gateway.post('/responses', asked)).text();
      shown[service_tier] = /.*"service_tier":"(\w+)"/s.exec(text)?.[1] ?? '';
    }
    const named = { default: 'default', flex: 'flex', scale: 'scale', fast: 'fast', ultrafast: 'ultrafast' };
    expect(shown).toEqual({ auto: 'default', ...named, brisk: lane === 'relayed' ? 'brisk' : 'default' });
  });
});

/** Values of the chat format that nothing here knows, with their place. */
const UNKNOWN_IN_CHAT: readonly (readonly [object, string])[] = [
  [{ reasoning_effort: 'extreme' }, 'reasoning_effort'],
  [{ modalities: ['text', 'smell'] }, 'modalities[1]'],
  [{ tools: [{ type: 'oracle', of: 'f' }] }, 'tools[0].type'],
  [{ tools: [CHAT_F], tool_choice: 'sometimes' }, 'tool_choice'],
  [
    {
      tools: [CHAT_F],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'twice', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
    },
    'tool_choice.allowed_tools.mode',
  ],
  [{ prediction: { type: 'oracle', of: 'f' } }, 'prediction.type'],
];

describe('a value of the chat format that is new', () => {
  const answers = { 'up/chat': chatAnswer, 'up/responses': responsesAnswer } as const;

  async function askChat(model: keyof typeof answers, body: object) {
    upstream.answer(answers[model]({ text: 'ok' }));
    const response = await gateway.post(
      '/chat/completions',
      { model, messages: [{ role: 'user', content: 'hi' }], ...body },
      { 'X-Signalbox-Metadata': 'enabled' },
    );
    const answer = (await response.json()) as any;
    const entries = (answer.signalbox_metadata?.translation ?? []) as { field: string; action: string }[];
    const report = entries.map(({ field, action }) => `${field} ${action}`);
    return { status: response.status, report, sent: upstream.requests.at(-1)?.json };
  }

  it.each(UNKNOWN_IN_CHAT)('is passed on, and the report says so: %j', async (body, place) => {
    const { status, report, sent } = await askChat('up/chat', body);
    expect({ status, report }).toEqual({ status: 200, report: [`${place} passed_on`] });
    expect(sent).toMatchObject(body);
  });

  it.each(UNKNOWN_IN_CHAT)('is passed on where the gateway runs a tool: %j', async (body, place) => {
    const { tools = [], ...settings } = body as { tools?: object[] };
    const clock = { type: 'signalbox:datetime' };
    const { status, report, sent } = await askChat('up/chat', { ...settings, tools: [...tools, clock] });
    expect({ status, report }).toEqual({ status: 200, report: [`${place} passed_on`] });
    expect(sent).toMatchObject(settings);
  });

  it.each(UNKNOWN_IN_CHAT)('is dropped with an entry at other upstreams: %j', async (body, place) => {
    const { status, report } = await askChat('up/responses', body);
    expect(status).toBe(200);
    expect(report.some((entry) => entry.endsWith('dropped') && place.startsWith(entry.split(' ')[0]!))).toBe(
      true,
    );
  });

  it('is sent as reasoning_effort if it stands in reasoning', async () => {
    for (const more of [{}, { tools: [{ type: 'signalbox:datetime' }] }]) {
      const { report, sent } = await askChat('up/chat', { reasoning: { effort: 'extreme' }, ...more });
      expect(report).toEqual(['reasoning.effort passed_on']);
      expect(sent).toMatchObject({ reasoning_effort: 'extreme' });
      expect(sent).not.toHaveProperty('reasoning');
    }
  });

  it.each([
    [{ type: 'bnf', rules: 'a' }, 'type'],
    [{ type: 'grammar', grammar: { syntax: 'bnf', definition: 'a' } }, 'grammar.syntax'],
  ])('is named in the format of a custom tool: %j', async (format, place) => {
    const tools = [{ type: 'custom', custom: { name: 'f', format } }];
    for (const model of ['up/chat', 'up/responses'] as const) {
      upstream.clear();
      const { report, sent } = await askChat(model, { tools });
      expect(report).toEqual([`tools[0].custom.format.${place} passed_on`]);
      expect(JSON.stringify(sent?.tools)).toContain('"bnf"');
    }
  });

  it('is a choice of no tool that the request has', async () => {
    const chosen = { tools: [CHAT_F], tool_choice: { type: 'oracle' } };
    expect((await askChat('up/chat', chosen)).sent).toMatchObject(chosen);
  });
});

describe('a member that no format documents, where the gateway runs a tool', () => {
  const clock = { type: 'signalbox:datetime' };
  const cases = [
    ['/responses', 'up/responses', responsesAnswer, { input: 'hi', tools: [clock] }, 'reasoning', 'effort'],
    [
      '/chat/completions',
      'up/chat',
      chatAnswer,
      { messages: [{ role: 'user', content: 'hi', mood: 'x' }], tools: [clock] },
      undefined,
      'reasoning_effort',
    ],
    [
      '/messages',
      'up/messages',
      messagesAnswer,
      { max_tokens: 2000, messages: [{ role: 'user', content: 'hi', mood: 'x' }], tools: [clock] },
      'tool_choice',
      'type',
    ],
  ] as const;

  async function send(path: string, model: string, body: object) {
    const response = await gateway.post(path, { model, ...body }, { 'X-Signalbox-Metadata': 'enabled' });
    const answer = (await response.json()) as any;
    const entries = (answer.signalbox_metadata?.translation ?? []) as Record<string, string>[];
    return { status: response.status, answer, entries, sent: upstream.requests.at(-1)?.json };
  }

  it.each(cases)(
    'goes to an upstream of the same format: %s',
    async (path, model, answers, body, settings) => {
      upstream.answer(answers({ text: 'ok' }));
      const inside = settings === 'reasoning' ? { effort: 'low', depth: 3 } : { type: 'auto', depth: 3 };
      const given = { novelty: { a: [1] }, ...(settings !== undefined && { [settings]: inside }) };
      const { status, answer, entries, sent } = await send(path, model, { ...body, ...given });
      expect(status, JSON.stringify(answer)).toBe(200);
      expect(sent).toMatchObject(given);
      const passed = ['novelty', ...(settings === undefined ? [] : [`${settings}.depth`])];
      const reported = entries.map(({ field, action }) => `${field} ${action}`);
      expect(reported).toEqual(expect.arrayContaining(passed.map((field) => `${field} passed_on`)));
      // What is lost all the same has its true reason.
      for (const { action, detail } of entries) {
        if (action === 'dropped')
          expect(detail).toMatch(/the gateway writes this part of the request itself/);
      }
      if (path === '/messages') expect(reported).toContain('messages[0].mood dropped');
    },
  );
});

describe('text that is written to the cache for twelve hours', () => {
  it('is charged as what is written for longer than usual', async () => {
    const usage = {
      input_tokens: 100,
      output_tokens: 0,
      input_tokens_details: {
        cached_tokens: 0,
        cache_write_tokens: 80,
        cache_write_tokens_details: { ttl_30m_tokens: 20, ttl_12h_tokens: 60 },
      },
    };
    const body = { id: 'resp_u', object: 'response', status: 'completed', model: 'm', output: [SAID], usage };
    upstream.answer([head(200, JSON_TYPE), write(JSON.stringify(body)), end()]);
    const { answer: reply } = await ask('up/responses', { prompt_cache_options: { ttl: '12h' } });
    expect(reply.usage.input_tokens_details.cache_write_tokens).toBe(80);
    expect(reply.usage.cost).toBeCloseTo(20 * 1e-6 + 20 * 1.25e-6 + 60 * 2e-6, 12);
  });
});
