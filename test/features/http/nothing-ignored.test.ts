import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const DIALECTS = { chat: 'openai-chat', responses: 'openai-responses', messages: 'anthropic-messages' };

let upstream: FakeUpstream;
let gateway: TestGateway;
let ask: Management['ask'];

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: [
      ...Object.entries(DIALECTS).map(([format, dialect]) => ({
        slug: `p-${format}`,
        dialect,
        base_url: upstream.url,
        api_key: 'k',
      })),
      { slug: 'simulator' },
    ],
    models: Object.keys(DIALECTS).map((format) => ({
      id: `up/${format}`,
      max_output_tokens: 8000,
      endpoints: [
        { provider: `p-${format}`, model: 'm', pricing: { prompt: '0.000001', completion: '0.000002' } },
      ],
    })),
  });
  ({ ask } = managementOf(gateway));
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

const MESSAGES = [{ role: 'user', content: 'hi' }];
const FUNCTION = { name: 'look', input_schema: { type: 'object' } };
const FORMATS = [
  { format: 'chat', path: '/chat/completions', said: { messages: MESSAGES }, answer: chatAnswer },
  {
    format: 'messages',
    path: '/messages',
    said: { messages: MESSAGES, max_tokens: 50 },
    answer: messagesAnswer,
  },
  { format: 'responses', path: '/responses', said: { input: 'hi' }, answer: responsesAnswer },
] as const;

/** Status and report of a generation with a mistyped field. */
async function reported(path: string, body: object, query = '') {
  const response = await gateway.post(
    `${path}${query}`,
    { ...body, temprature: 1 },
    { 'X-Signalbox-Metadata': 'enabled' },
  );
  const { signalbox_metadata } = (await response.json()) as any;
  const entries = (signalbox_metadata?.translation ?? []) as { field: string; action: string }[];
  return { status: response.status, report: entries.map(({ field, action }) => `${field} ${action}`) };
}

describe('an undocumented field', () => {
  it.each(FORMATS)('is reported as passed on by the relay lane: $format', async (row) => {
    upstream.answer(row.answer({ text: 'ok' }));
    const { status, report } = await reported(row.path, { model: `up/${row.format}`, ...row.said });
    expect({ status, report }).toEqual({ status: 200, report: ['temprature passed_on'] });
    expect((await upstream.request(0)).json).toMatchObject({ temprature: 1 });
  });

  it('is reported as dropped where the request is translated', async () => {
    upstream.answer(messagesAnswer({ text: 'ok' }));
    const { report } = await reported('/chat/completions', { model: 'up/messages', messages: MESSAGES });
    expect(report).toEqual(['temprature dropped']);
  });

  it.each(FORMATS)('is reported as ignored by the simulator: $format', async ({ path, said }) => {
    const { status, report } = await reported(path, { model: 'simulator/standard', ...said });
    expect({ status, report }).toEqual({ status: 200, report: ['temprature ignored'] });
  });

  it.each([
    ['/responses', { input: 'hi', tools: [{ type: 'local_shell' }] }, 'tools[0]'],
    [
      '/messages',
      { messages: MESSAGES, max_tokens: 50, tools: [FUNCTION, { type: 'bash_20250124', name: 'bash' }] },
      'tools[1]',
    ],
  ])('is reported by the simulator beside a tool that it does not have: %s', async (path, said, tool) => {
    const { status, report } = await reported(path, { model: 'simulator/standard', ...said });
    expect({ status, report }).toEqual({ status: 200, report: [`${tool} ignored`, 'temprature ignored'] });
  });

  it('is reported for embeddings', async () => {
    const { report } = await reported('/embeddings', { model: 'simulator/embedding', input: 'hi' });
    expect(report).toEqual(['temprature ignored']);
  });

  it('is in the explanation of each candidate', async () => {
    for (const [model, action] of [
      ['up/responses', 'passed_on'],
      ['simulator/standard', 'ignored'],
    ]) {
      const { body } = await ask('POST', '/routing/explain', {
        model: model ?? '',
        input: 'hi',
        temprature: 1,
      });
      expect(body.data.candidates[0].translation).toMatchObject([{ field: 'temprature', action }]);
    }
  });
});

/** Values of the chat format that only an upstream may know. */
const UNKNOWN_VALUES = {
  reasoning_effort: 'huge',
  verbosity: 'loud',
  tool_choice: 'maybe',
  response_format: { type: 'xml', root: 'a' },
};
const VALUE_PLACES = ['response_format.type', 'reasoning_effort', 'tool_choice', 'verbosity'];
const TOOLS = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];

describe('a value that the format does not know', () => {
  const body = { messages: MESSAGES, tools: TOOLS, ...UNKNOWN_VALUES };
  const server = { type: 'signalbox:datetime' };

  it.each([
    ['as the caller wrote the request', TOOLS],
    ['translated for the same format', [...TOOLS, server]],
  ])('goes to a chat upstream, %s', async (_lane, tools) => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const { status, report } = await reported('/chat/completions', { ...body, model: 'up/chat', tools });
    expect(status).toBe(200);
    expect((await upstream.request(0)).json).toMatchObject(UNKNOWN_VALUES);
    const told = report.filter((entry) => !entry.startsWith('temprature')).toSorted();
    expect(told).toEqual(VALUE_PLACES.map((place) => `${place} passed_on`).toSorted());
  });

  it('is dropped if it is a tier that the endpoint has no price for', async () => {
    upstream.answer(chatAnswer({ text: 'ok' }));
    const gold = { model: 'up/chat', messages: MESSAGES, service_tier: 'gold' };
    const { report } = await reported('/chat/completions', gold);
    expect(report).toContain('service_tier dropped');
    expect((await upstream.request(0)).json).not.toHaveProperty('service_tier');
  });

  it('is reported as dropped for an upstream of another format', async () => {
    upstream.answer(messagesAnswer({ text: 'ok' }));
    const { status, report } = await reported('/chat/completions', { ...body, model: 'up/messages' });
    expect(status).toBe(200);
    const lost = report.map((entry) => entry.replace(/^(response_format)\.type/, '$1'));
    for (const name of Object.keys(UNKNOWN_VALUES)) expect(lost).toContain(`${name} dropped`);
  });
});

/** Bodies with a mistyped member at each place below the top level, and these places. */
const MISTYPED = [
  {
    ...FORMATS[0],
    said: {
      messages: [
        { role: 'system', content: 'be brief', zz: 1 },
        { role: 'user', content: [{ type: 'text', text: 'hi', zz: 2 }] },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}', zz: 3 } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'seen' },
      ],
      tools: [
        {
          type: 'function',
          // The last one has the name and value of something that is sent.
          function: { name: 'look', parameters: { type: 'object', zz: 0 }, strickt: true, role: 'user' },
        },
      ],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'x', schema: { type: 'object', zz: 0 }, strct: true },
      },
    },
    places: [
      'messages[0].zz',
      'messages[1].content[0].zz',
      'messages[2].tool_calls[0].function.zz',
      'response_format.json_schema.strct',
      'tools[0].function.role',
      'tools[0].function.strickt',
    ],
  },
  {
    ...FORMATS[1],
    said: {
      max_tokens: 50,
      system: [{ type: 'text', text: 'be brief', zz: 1 }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi', zz: 2 }] },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'c1', name: 'look', input: { zz: 0 }, zz: 3 }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'seen', zz: 4 }] },
      ],
      tools: [{ ...FUNCTION, input_schema: { type: 'object', zz: 0 }, zz: 5 }],
      metadata: { zz: 6 },
    },
    places: [
      'messages[0].content[0].zz',
      'messages[1].content[0].zz',
      'messages[2].content[0].zz',
      'metadata.zz',
      'system[0].zz',
      'tools[0].zz',
    ],
  },
  {
    ...FORMATS[2],
    said: {
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'hi', zz: 1 }], zz: 2 },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'seen', zz: 3 },
      ],
      tools: [
        { type: 'function', name: 'look', parameters: { type: 'object', zz: 0 }, strict: false, zz: 4 },
      ],
      text: { format: { type: 'json_schema', name: 'x', schema: { type: 'object', zz: 0 }, zz: 5 } },
    },
    places: ['input[0].content[0].zz', 'input[0].zz', 'input[2].zz', 'text.format.zz', 'tools[0].zz'],
  },
];

describe('an undocumented member below the top level', () => {
  it.each(MISTYPED)('is reported by the relay lane and the simulator: $format', async (row) => {
    upstream.answer(row.answer({ text: 'ok' }));
    for (const [model, action] of [
      [`up/${row.format}`, 'passed_on'],
      ['simulator/standard', 'ignored'],
    ]) {
      const { status, report } = await reported(row.path, { model, ...row.said });
      expect({ status, report: report.toSorted() }).toEqual({
        status: 200,
        report: [...row.places, 'temprature'].map((place) => `${place} ${action}`).toSorted(),
      });
    }
    expect((await upstream.request(0)).json).toMatchObject(row.said);
  });

  it.each(
    MISTYPED.flatMap((row) =>
      FORMATS.filter(({ format }) => format !== row.format).map((to) => ({
        ...row,
        to: to.format,
        answer: to.answer,
      })),
    ),
  )('is reported as dropped where the request is translated: $format to $to', async (row) => {
    upstream.answer(row.answer({ text: 'ok' }));
    const { status, report } = await reported(row.path, { model: `up/${row.to}`, ...row.said });
    expect(status).toBe(200);
    expect(report).toEqual(
      expect.arrayContaining([...row.places, 'temprature'].map((place) => `${place} dropped`)),
    );
    expect(report.filter((entry) => entry.endsWith('passed_on'))).toEqual([]);
    expect(JSON.stringify((await upstream.request(0)).json)).not.toMatch(/"zz":[1-9]|strickt|strct/);
  });

  it('is reported once, for the gateway as ignored, and never inside a schema or what models wrote', async () => {
    const body = {
      model: 'up/messages',
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln', zz: 1 },
            { type: 'tool_use', id: 'c1', name: 'look', input: {}, caller: { type: 'direct' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'seen' }] },
      ],
      max_tokens: 50,
      tools: [{ ...FUNCTION, defer_loading: false }],
      stop_server_tools_when: [{ type: 'step_count_is', step_count: 3, zz: 1 }],
      trace: { trace_id: 't', team: 'a' },
    };
    upstream.answer(messagesAnswer({ text: 'ok' }));
    const { report } = await reported('/messages', body);
    expect(report).toEqual([
      'stop_server_tools_when dropped',
      'temprature passed_on',
      'stop_server_tools_when[0].zz ignored',
    ]);
  });
});

describe('an undocumented query parameter', () => {
  it.each(FORMATS)('is reported by a generation, without effect: $format', async ({ path, said }) => {
    const body = { model: 'simulator/standard', ...said };
    const { status, report } = await reported(path, body, '?beta=true&verbose=1&verbose=2');
    expect({ status, report }).toEqual({ status: 200, report: ['?verbose ignored', 'temprature ignored'] });
  });

  it('is bounded in the report', async () => {
    const query = `?${Array.from({ length: 300 }, (_, at) => `p${at}`).join('&')}`;
    const { report } = await reported('/responses', { model: 'simulator/standard', input: 'hi' }, query);
    expect(report).toHaveLength(102);
  });

  it.each([
    ['GET', '/keys?ofset=1', 'ofset'],
    ['GET', '/key?verbose=1', 'verbose'],
    ['GET', '/workspaces?limt=1', 'limt'],
    ['GET', '/byok?providr=x', 'providr'],
    ['GET', '/credits?x', 'x'],
    ['GET', '/files?limt=1', 'limt'],
    ['GET', '/activity?dat=2026-01-01', 'dat'],
    ['GET', '/analytics/meta?x=1', 'x'],
    ['GET', '/datasets/rankings-daily?start=1', 'start'],
    ['GET', '/generation?id=gen-1&idd=2', 'idd'],
    ['POST', '/routing/explain?x=1', 'x'],
    ['GET', '/models?suported_parameters=tools', 'suported_parameters'],
    ['GET', '/models/count?q=large', 'q'],
    ['GET', '/models/user?max_intelligence=5', 'max_intelligence'],
    ['GET', '/models/up/chat?x=1', 'x'],
    ['GET', '/models/up/chat/endpoints?x=1', 'x'],
    ['GET', '/model/up/chat?x=1', 'x'],
    ['GET', '/providers?x=1', 'x'],
    ['GET', '/openapi.json?x=1', 'x'],
  ])('is refused by name: %s %s', async (method, path, name) => {
    const { status, body } = await ask(method, path, method === 'POST' ? { model: 'up/chat' } : undefined);
    expect({ status, message: body.error.message }).toEqual({
      status: 400,
      message: expect.stringContaining(`${name}: is not a known query parameter`),
    });
    expect(body.error.metadata.issues).toHaveLength(1);
  });

  it('names the parameters that the route takes', async () => {
    const { body } = await ask('GET', '/workspaces?limt=1');
    expect(body.error.message).toMatch(/^limt: .*; did you mean "limit"\? This route takes .*limit/);
    expect((await ask('GET', '/providers?x=1')).body.error.message).toMatch(/^x: .*: this route takes none/);
  });

  it.each([
    ['/healthz?x=1', 'x: is not a known query parameter: this route takes none'],
    ['/readyz?prt=store', 'prt: is not a known query parameter; did you mean "part"? This route takes part'],
    ['/readyz?part=store&verbose', 'verbose: is not a known query parameter: this route takes part'],
    ['/metrics?name[]=up', 'name[]: is not a known query parameter: this route takes none'],
  ])('is refused by probes: %s', async (path, message) => {
    const headers = { authorization: `Bearer ${gateway.managementKey}` };
    const reply = await fetch(gateway.origin + path, { headers });
    const { error } = (await reply.json()) as { error: { message: string } };
    expect({ status: reply.status, message: error.message }).toEqual({ status: 400, message });
  });

  it.each(['/files?beta=true', '/models?beta=true', '/models?client_version=1.0.0'])(
    'is taken: %s',
    async (path) => {
      expect((await gateway.fetch(path)).status).toBe(200);
    },
  );

  it.each(['/?utm_source=mail', '/docs?utm_source=mail'])('is taken by pages: %s', async (path) => {
    expect((await fetch(gateway.origin + path, { headers: { accept: 'text/html' } })).status).toBe(200);
  });

  it('does not hide that a route was removed', async () => {
    expect((await ask('POST', '/credits/coinbase?x=1', {})).status).toBe(410);
  });
});
