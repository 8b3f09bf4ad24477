import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { messagesAnswer as plainMessage, responsesAnswer as plainResponse } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  SSE,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';
import { messagesAnswer } from '../../laws/matrix/answers/messages.ts';
import { responsesAnswer, said } from '../../laws/matrix/answers/responses.ts';
import type { WireAnswer } from '../../laws/matrix/answers/wire-answer.ts';

/** Searches that an upstream ran, for callers of another format: shown, and taken back in the next turn. */

const PAGE = 'https://tides.test/today';

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const of = (id: string, provider: string) => ({
    id,
    endpoints: [{ provider, model: 'one', pricing: { prompt: '0', completion: '0', web_search: '0.01' } }],
  });
  gateway = await openTestGateway({
    providers: [
      { slug: 'responder', dialect: 'openai-responses', base_url: upstream.url, api_key: 'k' },
      { slug: 'messenger', dialect: 'anthropic-messages', base_url: upstream.url, api_key: 'k' },
      { slug: 'generator', dialect: 'google-gemini', base_url: upstream.url, api_key: 'k' },
    ],
    models: [of('m/responses', 'responder'), of('m/messages', 'messenger'), of('m/gemini', 'generator')],
  } as never);
});
beforeEach(() => upstream.clear());
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const WAYS = [['whole', false] as const, ['streamed', true] as const];

function answer({ body, frames }: WireAnswer, stream: boolean) {
  const text = frames.map(({ event, data }) => `event: ${event}\ndata: ${data}\n\n`).join('');
  upstream.answer(
    stream
      ? [head(200, SSE), write(text), end()]
      : [head(200, JSON_TYPE), write(JSON.stringify(body)), end()],
  );
}

const use = (id: string) => ({
  type: 'server_tool_use',
  id,
  name: 'web_search',
  input: { query: `query of ${id}` },
});
const found = (id: string, content: object = [page()]) => ({
  type: 'web_search_tool_result',
  tool_use_id: id,
  content: content as never,
});
const page = () => ({ type: 'web_search_result', url: PAGE, title: 'Tides', encrypted_content: 'sealed' });
const TEXT = { type: 'text', text: 'High at nine.' };
const SEARCHED = { server_tool_use: { web_search_requests: 1 }, input_tokens: 9, output_tokens: 4 };

const plugins = [{ id: 'web', engine: 'native' }];

describe('a search of a messages upstream on /responses', () => {
  const ask = async (stream: boolean) => {
    const reply = await gateway.post('/responses', { model: 'm/messages', input: 'Tides?', plugins, stream });
    expect(reply.status).toBe(200);
    const id = reply.headers.get('x-generation-id');
    if (!stream) return { id, body: (await reply.json()) as any, events: [] };
    const events = (await readEvents(reply)).map(({ data }) => data as any);
    return { id, body: events.findLast((event) => event.response)?.response, events };
  };
  const recordOf = async (id: string | null) =>
    ((await (await gateway.fetch(`/generation?id=${id}`)).json()) as any).data;

  it.each(WAYS)('is a web_search_call with its query and pages: %s', async (_, stream) => {
    const blocks = [use('srvtoolu_1'), use('srvtoolu_2'), found('srvtoolu_1'), found('srvtoolu_2', []), TEXT];
    answer(messagesAnswer(blocks, {}, SEARCHED as never), stream);
    const { id, body, events } = await ask(stream);
    const sources = [{ type: 'url', url: PAGE }];
    expect(body.output).toMatchObject([
      {
        type: 'web_search_call',
        status: 'completed',
        action: { type: 'search', query: 'query of srvtoolu_1', sources },
      },
      { type: 'web_search_call', status: 'completed', action: { query: 'query of srvtoolu_2', sources: [] } },
      { type: 'message', content: [{ text: 'High at nine.' }] },
    ]);
    expect(new Set(body.output.map((item: any) => item.id)).size).toBe(3);
    expect((await recordOf(id)).total_cost).toBeCloseTo(0.01, 9);
    if (!stream) return;
    const steps = events.filter(({ item_id }) => item_id === body.output[0].id).map(({ type }) => type);
    expect(steps).toEqual(
      ['in_progress', 'searching', 'completed'].map((step) => `response.web_search_call.${step}`),
    );
    const numbers = events.map(({ sequence_number }) => sequence_number).filter(Number.isInteger);
    expect(numbers).toEqual(numbers.map((_number, index) => index));
    const added = events.filter(({ type }) => type === 'response.output_item.added');
    expect(added.map(({ output_index, item }) => [output_index, item.type])).toEqual([
      [0, 'web_search_call'],
      [1, 'web_search_call'],
      [2, 'message'],
    ]);
    const done = events.filter(({ type }) => type === 'response.output_item.done');
    expect(done.map(({ output_index }) => output_index).sort()).toEqual([0, 1, 2]);
  });

  it.each(WAYS)('shows a search that failed, and one without a result: %s', async (_, stream) => {
    const error = { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' };
    const blocks = [use('srvtoolu_1'), found('srvtoolu_1', error), TEXT, use('srvtoolu_2')];
    answer(messagesAnswer(blocks, { stop_reason: 'max_tokens' }), stream);
    const { body, events } = await ask(stream);
    expect(body.output.map(({ type, status }: any) => [type, status])).toEqual([
      ['web_search_call', 'failed'],
      ['message', 'completed'],
      ['web_search_call', 'failed'],
    ]);
    if (!stream) return;
    const done = events.filter(({ type }) => type === 'response.output_item.done');
    expect(done.find(({ output_index }) => output_index === 2).item.status).toBe('failed');
  });

  it.each(['m/messages', 'm/responses'])('goes back to %s as a call and its result', async (model) => {
    answer(messagesAnswer([use('srvtoolu_1'), found('srvtoolu_1'), TEXT]), false);
    const { body } = await ask(false);
    for (const output of [body.output, body.output.map((item: any) => ({ ...item, id: `ws_other` }))]) {
      upstream.clear();
      upstream.answer(
        model === 'm/messages' ? plainMessage({ text: 'Yes.' }) : plainResponse({ text: 'Yes.' }),
      );
      const input = [{ role: 'user', content: 'Tides?' }, ...output, { role: 'user', content: 'Sure?' }];
      const reply = await gateway.post('/responses', { model, input, plugins });
      expect(reply.status).toBe(200);
      const sent = JSON.stringify(upstream.requests[0]?.json);
      expect(sent).toContain('query of srvtoolu_1');
      expect(sent).toContain(PAGE);
      expect(sent).not.toContain('server_tool_use');
      expect(sent).not.toContain('gateway_call');
    }
  });
});

describe('a search of a responses upstream on /messages', () => {
  const question = { role: 'user', content: 'Tides?' };
  const ask = async (stream: boolean) => {
    const asked = { model: 'm/responses', max_tokens: 99, messages: [question], plugins, stream };
    const reply = await gateway.post('/messages', asked);
    expect(reply.status).toBe(200);
    return reply;
  };
  const call = (id: string, action: object, more: object = {}) => ({
    type: 'web_search_call',
    id,
    action: action as never,
    ...more,
  });
  const searched = { type: 'search', query: 'tides', sources: [{ type: 'url', url: PAGE }] };

  it.each(WAYS)('is a server_tool_use with its result: %s', async (_, stream) => {
    const items = [
      call('ws_1', searched),
      call('ws_2', { type: 'search', queries: ['tides', 'moon'] }),
      call('ws_3', { type: 'open_page', url: PAGE }),
      call('ws_4', { type: 'search', query: 'sun' }, { status: 'failed' }),
      said('High at nine.'),
    ];
    answer(responsesAnswer(items), stream);
    const reply = await ask(stream);
    const content = stream ? blocksOf(await readEvents(reply)) : ((await reply.json()) as any).content;
    const result = { type: 'web_search_tool_result' };
    expect(content).toMatchObject([
      { type: 'server_tool_use', name: 'web_search', input: { query: 'tides' } },
      { ...result, content: [{ type: 'web_search_result', url: PAGE }] },
      { type: 'server_tool_use', name: 'web_search', input: { query: 'tides, moon' } },
      { ...result, content: [] },
      { type: 'server_tool_use', name: 'web_search', input: { query: 'sun' } },
      { ...result, content: { type: 'web_search_tool_result_error', error_code: 'unavailable' } },
      { type: 'text', text: 'High at nine.' },
    ]);
    for (const [use, its] of [content.slice(0, 2), content.slice(2, 4)]) {
      expect(use.id).toMatch(/^srvtoolu_[a-zA-Z0-9_-]+$/);
      expect(its.tool_use_id).toBe(use.id);
    }
  });

  it.each(['m/messages', 'm/responses'])('goes back to %s as a call and its result', async (model) => {
    answer(
      responsesAnswer([
        call('ws_1', searched),
        call('ws_2', { type: 'search', query: 'moon' }),
        said('Nine.'),
      ]),
      false,
    );
    const { content } = (await (await ask(false)).json()) as any;
    upstream.clear();
    upstream.answer(
      model === 'm/messages' ? plainMessage({ text: 'Yes.' }) : plainResponse({ text: 'Yes.' }),
    );
    const messages = [question, { role: 'assistant', content }, { role: 'user', content: 'Sure?' }];
    const reply = await gateway.post('/messages', { model, max_tokens: 99, messages, plugins });
    expect(reply.status).toBe(200);
    const sent = upstream.requests[0]?.json as any;
    const [first, second] =
      model === 'm/messages'
        ? sent.messages
            .flatMap((message: any) => (Array.isArray(message.content) ? message.content : []))
            .filter(({ type }: any) => type === 'tool_result')
            .map((block: any) => block.content?.[0]?.text ?? block.content)
        : sent.input
            .filter(({ type }: any) => type === 'function_call_output')
            .map(({ output }: any) => output);
    const note = 'The result itself is no longer known.';
    expect(JSON.parse(first)).toEqual({ sources: [{ url: PAGE, title: '' }], note });
    expect(JSON.parse(second)).toEqual({ note });
    expect(JSON.stringify(sent)).not.toMatch(/srvtoolu_|encrypted_content|"ws_1"/);
  });
});

describe('a search of a Gemini upstream', () => {
  const half = { id: 'a1', toolType: 'GOOGLE_SEARCH_WEB' };
  const maps = { id: 'a2', toolType: 'GOOGLE_MAPS' };
  const parts = [
    { toolCall: { ...half, args: { queries: ['tides', 'moon'] } }, thoughtSignature: 'c2ln' },
    { toolResponse: { ...half, response: { search_suggestions: '<b>tides</b>' } } },
    { toolCall: { ...maps, args: { queries: ['harbour'] } } },
    { toolResponse: { ...maps, response: {} } },
    { text: 'High at nine.' },
  ];
  const generated = (all: readonly object[], stream: boolean) => {
    const body = {
      candidates: [{ content: { role: 'model', parts: all }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4 },
    } as never;
    answer({ body, frames: [{ data: JSON.stringify(body) }] } as never, stream);
  };
  const QUESTIONS = {
    '/responses': { input: [{ role: 'user', content: 'Tides?' }] },
    '/messages': { max_tokens: 99, messages: [{ role: 'user', content: 'Tides?' }] },
    '/chat/completions': { messages: [{ role: 'user', content: 'Tides?' }] },
  };
  const ask = async (path: keyof typeof QUESTIONS, more: object) => {
    const reply = await gateway.post(path, { model: 'm/gemini', ...QUESTIONS[path], plugins, ...more });
    expect(reply.status).toBe(200);
    return reply;
  };

  it.each(WAYS)('is a web_search_call on /responses: %s', async (_, stream) => {
    generated(parts, stream);
    const reply = await ask('/responses', { stream });
    const events = stream ? (await readEvents(reply)).map(({ data }) => data as any) : [];
    const body = stream ? events.findLast((event) => event.response)?.response : await reply.json();
    const { output } = body as any;
    const action = { type: 'search', query: 'tides, moon', queries: ['tides', 'moon'], sources: [] };
    expect(output).toMatchObject([
      { type: 'web_search_call', status: 'completed', action },
      { type: 'message', content: [{ text: 'High at nine.' }] },
    ]);
  });

  it.each(WAYS)('is a server_tool_use with its result on /messages: %s', async (_, stream) => {
    generated(parts, stream);
    const reply = await ask('/messages', { stream });
    const content = stream ? blocksOf(await readEvents(reply)) : ((await reply.json()) as any).content;
    expect(content).toMatchObject([
      { type: 'server_tool_use', name: 'web_search', input: { query: 'tides, moon' } },
      { type: 'web_search_tool_result', tool_use_id: content[0].id, content: [] },
      { type: 'text', text: 'High at nine.' },
    ]);
  });

  it('is not part of chat completions, which show no tools of upstreams', async () => {
    generated(parts, false);
    const { choices } = (await (await ask('/chat/completions', {})).json()) as any;
    expect(choices[0].message.content).toBe('High at nine.');
    expect(choices[0].message.tool_calls).toBeUndefined();
  });

  it('goes back as a call and its result', async () => {
    generated(parts, false);
    const { output } = (await (await ask('/responses', {})).json()) as any;
    generated(parts, false);
    const { content } = (await (await ask('/messages', {})).json()) as any;
    const more = { role: 'user', content: 'Sure?' };
    const turns = {
      '/responses': { input: [...QUESTIONS['/responses'].input, ...output, more] },
      '/messages': { messages: [...QUESTIONS['/messages'].messages, { role: 'assistant', content }, more] },
    };
    for (const path of ['/responses', '/messages'] as const) {
      upstream.clear();
      generated([{ text: 'Yes.' }], false);
      await ask(path, turns[path]);
      const sent = (upstream.requests[0]?.json as any)?.contents.flatMap((turn: any) => turn.parts);
      const call = sent.find((part: any) => part.functionCall)?.functionCall;
      expect(call).toMatchObject({ name: 'web_search', args: { query: 'tides, moon' } });
      expect(sent.filter((part: any) => part.functionResponse)).toHaveLength(1);
    }
  });

  it('goes back as it came while tools of the gateway run beside it', async () => {
    const call = { functionCall: { id: 'c1', name: 'datetime', args: {} }, thoughtSignature: 'c2ln' };
    generated([...parts, call], false);
    generated([{ text: 'Now.' }], false);
    await ask('/responses', { tools: [{ type: 'signalbox:datetime' }], plugins: [] });
    const sent = (upstream.requests[1]?.json as any)?.contents.flatMap((turn: any) => turn.parts);
    for (const part of parts) expect(sent).toContainEqual(part);
  });
});

function blocksOf(events: readonly { data: any }[]): any[] {
  const blocks: any[] = [];
  for (const { data } of events) {
    const { type, index, content_block, delta } = data;
    if (type === 'content_block_start') blocks[index] = { ...content_block };
    if (delta?.type === 'input_json_delta') blocks[index].input = JSON.parse(delta.partial_json);
    if (delta?.type === 'text_delta') blocks[index].text += delta.text;
  }
  return blocks;
}
