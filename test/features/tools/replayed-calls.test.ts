import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { searchingWith } from './search-engine.ts';
import { openToolGateway, type ToolGateway, type ToolModel } from './tool-gateway.ts';

/** Calls of server tools in the next request of their caller: the model sees the results that it had. */

let tools: ToolGateway;
let engine: FakeUpstream;

beforeAll(async () => {
  engine = await openFakeUpstream();
  tools = await openToolGateway(searchingWith(engine));
});
beforeEach(() => {
  tools.upstream.clear();
  engine.clear();
});
afterAll(async () => {
  await tools.close();
  await engine.close();
});

const RESULTS = [{ url: 'https://words.test/today', title: 'Words', content: 'The word is heliotrope.' }];
const SEARCH = { name: 'web_search', arguments: '{"query":"word"}', id: 'call_s' };
const LOOK = { name: 'look', arguments: '{}', id: 'call_l' };
const LOOK_TOOL = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } };
const QUESTION = { type: 'message', role: 'user', content: 'Which word?' };
const OUTCOME = { type: 'function_call_output', call_id: 'call_l', output: 'seen' };

/** A search and a function of the caller in one step: the items of the answer. */
async function mixedStep(model: ToolModel, type: string, more: object = {}): Promise<any[]> {
  engine.answer(reply(200, { results: RESULTS }));
  tools.answers(model, { text: 'Let me see.', tools: [SEARCH, LOOK] }, { text: 'It is heliotrope.' });
  const asked = { input: [QUESTION], tools: [{ type }, LOOK_TOOL], ...more };
  const { status, body } = await tools.ask('/responses', model, asked);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.output;
}

async function goOn(model: ToolModel, type: string, items: readonly object[]): Promise<any> {
  const input = [QUESTION, ...items, OUTCOME];
  const { status, body } = await tools.ask('/responses', model, { input, tools: [{ type }, LOOK_TOOL] });
  expect(status, JSON.stringify(body)).toBe(200);
  return { sent: tools.upstream.requests.at(-1)?.json, body };
}

/** Results of calls in a request of each dialect, by the id of the call. */
const resultsOf: Record<ToolModel, (sent: any) => [string, string][]> = {
  'm/chat': ({ messages }) =>
    messages
      .filter(({ role }: any) => role === 'tool')
      .map(({ tool_call_id, content }: any) => [tool_call_id, content]),
  'm/messages': ({ messages }) =>
    messages
      .flatMap(({ content }: any) => content)
      .filter(({ type }: any) => type === 'tool_result')
      .map(({ tool_use_id, content }: any) => [
        tool_use_id,
        typeof content === 'string' ? content : content[0].text,
      ]),
  'm/responses': ({ input }) =>
    input
      .filter(({ type }: any) => type === 'function_call_output')
      .map(({ call_id, output }: any) => [call_id, output]),
};

const FOUND = JSON.stringify({ results: RESULTS });

/** The item as Codex sends it back: without sources. */
const asSent = ({ action, ...item }: any) => ({
  ...item,
  ...(action !== undefined && { action: { type: action.type, query: action.query } }),
});

describe('the result of a search', () => {
  it.each([
    ['m/chat', 'web_search'],
    ['m/messages', 'web_search'],
    ['m/chat', 'signalbox:web_search'],
    ['m/messages', 'signalbox:web_search'],
    ['m/responses', 'signalbox:web_search'],
  ] as const)('is still before the model of %s (%s)', async (model, type) => {
    const output = await mixedStep(model, type);
    expect(output.some((item) => 'gateway_call' in item)).toBe(false);
    const shown = type === 'web_search' ? 'web_search_call' : type;
    expect(output.map((item) => item.type)).toEqual(['message', shown, 'function_call']);
    const { sent } = await goOn(model, type, output.map(asSent));
    expect(new Map(resultsOf[model](sent))).toEqual(
      new Map([
        ['call_s', FOUND],
        ['call_l', 'seen'],
      ]),
    );
    expect(JSON.stringify(sent)).not.toContain('gateway_call');
  });

  it('is found by a reference to its item', async () => {
    const output = await mixedStep('m/chat', 'web_search');
    const references = output.map(({ id }) => ({ type: 'item_reference', id }));
    const { sent } = await goOn('m/chat', 'web_search', references);
    expect(new Map(resultsOf['m/chat'](sent)).get('call_s')).toBe(FOUND);
  });

  it('is kept from streams too', async () => {
    engine.answer(reply(200, { results: RESULTS }));
    tools.answers('m/chat', { tools: [SEARCH, LOOK] }, { text: 'It is heliotrope.' });
    const asked = { input: [QUESTION], tools: [{ type: 'web_search' }, LOOK_TOOL] };
    const events = await tools.stream('/responses', 'm/chat', asked);
    const { output } = events.at(-2)?.data.response ?? {};
    const done = events.filter(({ data }) => data.type === 'response.output_item.done');
    expect(done.map(({ data }) => [data.output_index, data.item.type])).toEqual([
      [0, 'web_search_call'],
      [1, 'function_call'],
    ]);
    const { sent } = await goOn('m/chat', 'web_search', output.map(asSent));
    expect(new Map(resultsOf['m/chat'](sent)).get('call_s')).toBe(FOUND);
  });
});

describe('a result that is not kept', () => {
  it.each(['m/chat', 'm/messages'] as const)('is what its item shows, on %s', async (model) => {
    const output = await mixedStep(model, 'web_search', { provider: { zdr: true } });
    const search = output.find(({ type }) => type === 'web_search_call');
    const { sent, body } = await goOn(model, 'web_search', output);
    const results = new Map(resultsOf[model](sent));
    expect(JSON.parse(results.get(search.id) ?? '')).toEqual({
      sources: [{ type: 'url', url: RESULTS[0]?.url }],
      note: 'The result itself is no longer known.',
    });
    expect(JSON.stringify(sent)).toContain('word');
    expect(body.signalbox_metadata.translation).toContainEqual(
      expect.objectContaining({ action: 'coerced', field: expect.stringMatching(/^input\[\d\]$/) }),
    );
  });

  it('of a program has its code and its logs', async () => {
    const program = {
      type: 'code_interpreter_call',
      id: 'ci_1',
      status: 'completed',
      code: 'print(7)',
      container_id: 'auto',
      outputs: [{ type: 'logs', logs: '7\n' }],
    };
    tools.answers('m/chat', { text: 'Seven.' });
    const input = [QUESTION, program, { type: 'message', role: 'user', content: 'So?' }];
    await tools.ask('/responses', 'm/chat', { input });
    const { messages } = tools.upstream.requests[0]?.json ?? {};
    expect(messages[1].tool_calls[0].function).toEqual({
      name: 'code_interpreter',
      arguments: '{"code":"print(7)"}',
    });
    expect(JSON.parse(messages[2].content)).toEqual({ outputs: program.outputs });
  });
});

describe('in the chat format, which shows no calls of server tools', () => {
  const USER = { role: 'user', content: 'Which word?' };
  const TOOLS = [
    { type: 'signalbox:web_search' },
    { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
  ];

  /** A search and a function of the caller in one step: the message of the answer. */
  async function mixedMessage(model: ToolModel, more: object = {}): Promise<any> {
    engine.answer(reply(200, { results: RESULTS }));
    tools.answers(model, { text: 'Let me see.', tools: [SEARCH, LOOK] }, { text: 'It is heliotrope.' });
    const asked = { messages: [USER], tools: TOOLS, ...more };
    const { status, body } = await tools.ask('/chat/completions', model, asked);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.choices[0].message;
  }

  async function sentAfter(model: ToolModel, messages: readonly object[], more: object = {}): Promise<any> {
    const asked = { messages, tools: TOOLS, ...more };
    const { status, body } = await tools.ask('/chat/completions', model, asked);
    expect(status, JSON.stringify(body)).toBe(200);
    return tools.upstream.requests.at(-1)?.json;
  }

  const OTHER = { role: 'user', content: 'Which other word?' };
  const SEEN = { role: 'tool', tool_call_id: 'call_l', content: 'seen' };
  const BOTH = new Map([
    ['call_s', FOUND],
    ['call_l', 'seen'],
  ]);

  it.each(['m/chat', 'm/messages', 'm/responses'] as const)(
    'their results of a mixed step are still before the model of %s',
    async (model) => {
      const message = await mixedMessage(model);
      expect(message.tool_calls.map(({ id }: any) => id)).toEqual(['call_l']);
      expect(JSON.stringify(message)).not.toContain('heliotrope');
      const sent = await sentAfter(model, [USER, message, SEEN]);
      expect(new Map(resultsOf[model](sent))).toEqual(BOTH);
    },
  );

  it('also if the caller has streamed, has changed its instructions, and declares no server tool any more', async () => {
    engine.answer(reply(200, { results: RESULTS }));
    tools.answers('m/chat', { tools: [SEARCH, LOOK] }, { text: 'It is heliotrope.' });
    const system = (content: string) => ({ role: 'system', content });
    await tools.stream('/chat/completions', 'm/chat', { messages: [system('One.'), USER], tools: TOOLS });
    const call = { id: 'call_l', type: 'function', function: { name: 'look', arguments: '{}' } };
    const said = { role: 'assistant', content: null, tool_calls: [call] };
    const messages = [system('Two.'), USER, said, SEEN];
    const { messages: sent } = await sentAfter('m/chat', messages, { tools: TOOLS.slice(1) });
    expect(new Map(resultsOf['m/chat']({ messages: sent }))).toEqual(BOTH);
    expect(sent[2].tool_calls.map(({ id }: any) => id)).toEqual(['call_s', 'call_l']);
  });

  it.each([
    ['of another conversation with the same ids', {}, 'Another question.'],
    ['under zero retention', { messages: [OTHER], provider: { zdr: true } }, OTHER.content],
  ])('not %s', async (_, more, content) => {
    const message = await mixedMessage('m/chat', more);
    const sent = await sentAfter('m/chat', [{ role: 'user', content }, message, SEEN]);
    expect(resultsOf['m/chat'](sent)).toEqual([['call_l', 'seen']]);
  });
});
