import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import {
  end,
  type FakeUpstream,
  head,
  openFakeUpstream,
  reply,
  type Script,
  SSE,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/** xAI by its interface of responses, and by that of chat, which a configuration can choose. */

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const pricing = { prompt: '0.000001', completion: '0.000002', web_search: '0.005', x_search: '0.007' };
  gateway = await openTestGateway({
    providers: [
      { slug: 'xai', base_url: upstream.url, api_key: 'k' },
      { slug: 'openai', base_url: upstream.url, api_key: 'k' },
    ],
    models: [
      { id: 'x-ai/one', endpoints: [{ provider: 'xai', model: 'one', pricing }] },
      { id: 'openai/one', endpoints: [{ provider: 'openai', model: 'one', pricing }] },
    ],
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const ANSWER = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'one',
  output: [
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2VhbGVk', status: 'completed' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'a' } },
    { type: 'x_search_call', id: 'xs_1', name: 'x_keyword_search', arguments: '{}', status: 'completed' },
    { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'A.' }] },
  ],
  usage: {
    input_tokens: 100,
    output_tokens: 50,
    total_tokens: 150,
    server_side_tool_usage_details: { web_search_calls: 1, x_search_calls: 2 },
  },
};

it('seals its thoughts, searches the web and X, and is charged for each search', async () => {
  upstream.answer(reply(200, ANSWER));
  const tools = [{ type: 'web_search' }, { type: 'x_search', allowed_x_handles: ['a'] }];
  const include = ['reasoning.encrypted_content'];
  const asked = { model: 'x-ai/one', input: 'What is new?', tools, include, store: false };
  const first = (await (await gateway.post('/responses', asked)).json()) as any;
  expect((await upstream.request(0)).json).toMatchObject({ tools, include, store: false });
  expect(first.output.map(({ type }: any) => type)).toEqual(ANSWER.output.map(({ type }) => type));
  expect(first.usage.cost).toBeCloseTo(0.0001 + 0.0001 + 0.005 + 2 * 0.007, 9);

  upstream.answer(reply(200, { ...ANSWER, output: ANSWER.output.slice(3) }));
  const input = [...first.output, { role: 'user', content: 'And now?' }];
  const second = await gateway.post('/responses', { ...asked, input });
  expect(second.status).toBe(200);
  const sent = (await upstream.request(1)).json.input;
  expect(sent[0]).toMatchObject({ type: 'reasoning', encrypted_content: 'c2VhbGVk' });
  expect(sent[2]).toMatchObject({ type: 'x_search_call', name: 'x_keyword_search' });
});

/** The answer as a stream, of which only the last event has the items. */
function streamed(answer: object): Script {
  const event = { type: 'response.completed', response: answer };
  return [head(200, SSE), write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`), end()];
}

/** The output of an answer to a request, streamed or whole. */
async function outputOf(asked: JsonObject): Promise<any[]> {
  upstream.clear();
  upstream.answer(asked.stream ? streamed(ANSWER) : reply(200, ANSWER));
  const text = await (await gateway.post('/responses', asked)).text();
  if (!asked.stream) return JSON.parse(text).output;
  const last = text.split('\n').findLast((line) => line.startsWith('data: {')) ?? '';
  return JSON.parse(last.slice('data: '.length)).response.output;
}

it.each([true, false])(
  'keeps its seals from OpenAI, and gets them back as they were (stream: %s)',
  async (stream) => {
    const include = ['reasoning.encrypted_content'];
    const asked = { model: 'x-ai/one', input: 'Hi', include, store: false, stream };
    // Most clients send back no member but these.
    const output = (await outputOf(asked)).map(({ format: _, ...item }) => item);
    const [thoughts, , , message] = output;
    const input = [thoughts, message, { role: 'user', content: 'And now?' }];
    const sentTo = async (model: string): Promise<any[]> => {
      await outputOf({ ...asked, model, input });
      return (await upstream.request(0)).json.input;
    };
    expect(JSON.stringify(await sentTo('openai/one'))).not.toMatch(/reasoning|encrypted_content/);
    expect((await sentTo('x-ai/one'))[0]).toEqual({
      type: 'reasoning',
      id: 'rs_1',
      summary: [],
      encrypted_content: 'c2VhbGVk',
      status: 'completed',
    });
  },
);

it('shows the searches that xAI ran as its own calls, with every event of theirs', async () => {
  const call = {
    type: 'custom_tool_call',
    id: 'ctc_1',
    call_id: 'xs_1',
    name: 'x_keyword_search',
    input: '',
  };
  const done = { ...call, input: '{"query":"a"}', status: 'completed' };
  const at = { output_index: 0, item_id: 'ctc_1' };
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: call },
    { type: 'response.custom_tool_call_input.delta', ...at, delta: done.input },
    { type: 'response.custom_tool_call_input.done', ...at, input: done.input },
    { type: 'response.output_item.done', output_index: 0, item: done },
    { type: 'response.completed', response: { ...ANSWER, output: [done, ANSWER.output[3]] } },
  ];
  upstream.clear();
  const sent = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  upstream.answer([head(200, SSE), write(sent.join('')), end()]);
  const tools = [{ type: 'x_search' }];
  const asked = { model: 'x-ai/one', input: 'What is new?', tools, store: false, stream: true };
  const text = await (await gateway.post('/responses', asked)).text();
  const types = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
  expect(types.slice(2, 6)).toEqual(events.slice(0, 4).map(({ type }) => type));
  expect(text).toContain('"name":"x_keyword_search"');
  const input = [done, { role: 'user', content: 'So?' }];
  const [custom, clock] = [{ type: 'custom', name: 'x_keyword_search' }, { type: 'signalbox:datetime' }];
  const ownCall = ['custom_tool_call', 'message'];
  const callersCall = ['custom_tool_call', 'custom_tool_call_output', 'message'];
  for (const [more, sentTypes] of [
    [[], ownCall],
    [[clock], ownCall],
    [[custom], callersCall],
    [[custom, clock], callersCall],
  ] as const) {
    upstream.clear();
    upstream.answer(reply(200, ANSWER));
    await gateway.post('/responses', { ...asked, stream: false, tools: [...tools, ...more], input });
    const { json } = await upstream.request(0);
    expect(json.input.map(({ type = 'message' }: any) => type)).toEqual(sentTypes);
  }
});

const chatRequest = {
  model: 'x-ai/one',
  messages: [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ],
  seed: 7,
  logprobs: true,
};

it('takes the seed and the log probabilities of callers of other formats', async () => {
  upstream.clear();
  upstream.answer(reply(200, ANSWER));
  const response = await gateway.post('/chat/completions', chatRequest);
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'A.' } }] });
  const { path, json } = await upstream.request(0);
  expect(path).toBe('/v1/responses');
  expect(json).toMatchObject({ seed: 7, logprobs: true, store: false });
  expect(json.include ?? []).not.toContain('message.output_text.logprobs');
  expect(JSON.stringify(json)).not.toContain('developer');
});

it('is called by its chat interface where the configuration says so', async () => {
  const chat = await openTestGateway({
    providers: [{ slug: 'xai', dialect: 'openai-chat', base_url: upstream.url, api_key: 'k' }],
    models: [{ id: 'x-ai/one', endpoints: [{ provider: 'xai', model: 'one' }] }],
  });
  upstream.clear();
  const message = { role: 'assistant', content: 'A.', reasoning_content: 'Hm.' };
  const usage = {
    prompt_tokens: 3,
    completion_tokens: 2,
    completion_tokens_details: { reasoning_tokens: 1 },
  };
  upstream.answer(
    reply(200, { id: 'c', model: 'one', choices: [{ message, finish_reason: 'stop' }], usage }),
  );
  const response = await chat.post('/chat/completions', chatRequest);
  await chat.close();
  const answered = { choices: [{ message: { content: 'A.', reasoning: 'Hm.' } }] };
  expect(await response.json()).toMatchObject(answered);
  const { path, json } = await upstream.request(0);
  expect(path).toBe('/v1/chat/completions');
  expect(json).toMatchObject({ seed: 7, logprobs: true });
  expect(json.messages[0]).toMatchObject({ role: 'system', content: 'Be brief.' });
});

describe('the search of X', () => {
  const METADATA = { 'X-Signalbox-Metadata': 'enabled' };
  const reportOf = (answer: any): string[] =>
    (answer.signalbox_metadata.translation ?? []).map(({ field, action }: any) => `${field} ${action}`);

  it('comes back in the next turn without an entry in the report', async () => {
    for (const more of [{}, { action: { type: 'search', query: 'a' }, input: 'a' }]) {
      upstream.clear();
      upstream.answer(reply(200, ANSWER));
      const input = [
        { ...ANSWER.output[2], ...more },
        { role: 'user', content: 'So?' },
      ];
      const asked = { model: 'x-ai/one', input, tools: [{ type: 'x_search' }], store: false };
      const answer = await (await gateway.post('/responses', asked, METADATA)).json();
      expect(upstream.requests[0]?.json.input[0]).toEqual(input[0]);
      expect(reportOf(answer)).toEqual([]);
    }
  });

  const FORMATS = {
    '/chat/completions': { tools: [{ type: 'x_search' }], tool_choice: { type: 'x_search' } },
    '/messages': {
      max_tokens: 99,
      tools: [{ type: 'x_search', name: 'x_search', allowed_x_handles: ['a'] }],
    },
  };
  const searched = {
    ...ANSWER,
    output: [
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'xs_1', name: 'x_keyword_search', input: '{}' },
      ANSWER.output[3],
    ],
    usage: { ...ANSWER.usage, server_side_tool_usage_details: { x_search_calls: 2 } },
  };

  it.each(Object.entries(FORMATS))('is asked for by %s, runs there and is charged', async (path, more) => {
    upstream.clear();
    upstream.answer(reply(200, searched));
    const messages = [{ role: 'user', content: 'What is new?' }];
    const response = await gateway.post(path, { model: 'x-ai/one', messages, ...more }, METADATA);
    const answer = (await response.json()) as any;
    const { name: _, ...tool } = { name: '', ...more.tools[0] };
    expect(upstream.requests[0]?.json.tools).toEqual([tool]);
    if ('tool_choice' in more) expect(upstream.requests[0]?.json.tool_choice).toEqual(more.tool_choice);
    // The messages format has no such type, which the upstream got all the same.
    expect(reportOf(answer)).toEqual(path === '/messages' ? ['tools[0].type passed_on'] : []);
    expect(answer.usage.cost).toBeCloseTo(0.0001 + 0.0001 + 2 * 0.007, 9);
    expect(JSON.stringify(answer.content ?? answer.choices)).toContain('A.');
    expect(JSON.stringify(answer.content ?? answer.choices)).not.toContain('x_keyword_search');
  });

  it.each(Object.entries(FORMATS))(
    'of %s does not go to providers that do not run it',
    async (path, more) => {
      upstream.clear();
      upstream.answer(reply(200, ANSWER));
      const messages = [{ role: 'user', content: 'What is new?' }];
      const { tools } = more;
      const body = { model: 'openai/one', messages, max_tokens: 99, tools };
      const answer = await (await gateway.post(path, body, METADATA)).json();
      expect(upstream.requests[0]?.json).not.toHaveProperty('tools');
      expect(reportOf(answer)).toEqual(['tools[0] dropped']);
    },
  );
});
