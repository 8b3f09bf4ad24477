import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { searchingWith } from './search-engine.ts';
import { lastToolResult, openToolGateway, type ToolGateway, textOf } from './tool-gateway.ts';

/** Tools by the names of the formats, before upstreams that do not run them. */

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

const PAGE = { url: 'https://words.test/today', title: 'Words', content: 'The word is heliotrope.' };
const call = (name: string, input: object) => ({ name, arguments: JSON.stringify(input), id: 'call_a' });

describe('in the chat format', () => {
  it.each(['web_search', 'web_search_20250305', 'web_search_preview'])(
    '%s runs before a chat upstream, which has no such tool',
    async (type) => {
      engine.answer(reply(200, { results: [PAGE] }));
      tools.answers('m/chat', { tools: [call('web_search', { query: 'word' })] }, { text: 'Heliotrope.' });
      const { body } = await tools.ask('/chat/completions', 'm/chat', { tools: [{ type }] });
      expect(textOf['/chat/completions'](body)).toBe('Heliotrope.');
      expect(tools.upstream.requests[0]?.json.tools).toMatchObject([
        { type: 'function', function: { name: 'web_search' } },
      ]);
      expect(lastToolResult(tools.upstream.requests[1])).toEqual({ results: [PAGE] });
    },
  );

  it('a tool that nothing here runs goes to the upstream as it is', async () => {
    tools.answers('m/chat', { text: 'Hm.' });
    const hosted = [{ type: 'image_generation' }, { type: 'browser_search' }];
    await tools.ask('/chat/completions', 'm/chat', { tools: hosted });
    expect(tools.upstream.requests[0]?.json.tools).toEqual(hosted);
  });
});

describe('tools of the messages format that its callers run', () => {
  const BASH = { type: 'bash_20250124', name: 'bash' };
  const EDITOR = { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' };

  it.each(['m/chat', 'm/responses'] as const)('are functions for the model of %s', async (model) => {
    tools.answers(model, { tools: [call('bash', { command: 'ls' })] });
    const { status, body } = await tools.ask('/messages', model, {
      tools: [BASH, EDITOR],
      tool_choice: { type: 'tool', name: 'bash' },
    });
    expect(status, JSON.stringify(body)).toBe(200);
    const sent = tools.upstream.requests[0]?.json;
    expect(sent.tools.map((tool: any) => (tool.function ?? tool).name)).toEqual([BASH.name, EDITOR.name]);
    expect((sent.tool_choice.function ?? sent.tool_choice).name).toBe('bash');
    expect(body.stop_reason).toBe('tool_use');
    expect(body.content.at(-1)).toMatchObject({ type: 'tool_use', name: 'bash', input: { command: 'ls' } });
    expect(body.signalbox_metadata.translation).toContainEqual(
      expect.objectContaining({ field: 'tools[0]', action: 'coerced' }),
    );
  });

  it('go to an upstream of that format as they are, and beside server tools', async () => {
    tools.answers('m/messages', { text: 'Hm.' });
    await tools.ask('/messages', 'm/messages', { tools: [BASH] });
    expect(tools.upstream.requests[0]?.json.tools).toEqual([BASH]);
    tools.upstream.clear();
    tools.answers('m/chat', { tools: [call('bash', { command: 'ls' })] });
    const { body } = await tools.ask('/messages', 'm/chat', {
      tools: [BASH, { type: 'signalbox:datetime' }],
    });
    expect(body.content.at(-1)).toMatchObject({ type: 'tool_use', name: 'bash' });
  });
});

describe('in the messages format', () => {
  const ADVISOR = { type: 'advisor_20260301', name: 'advisor', model: 'm/other' };

  it.each([false, true])('an advisor has its blocks, which go back (streamed: %s)', async (stream) => {
    tools.answers(
      'm/chat',
      { tools: [call('advisor', { prompt: 'How?' })] },
      { text: 'Slowly.' },
      { text: 'So.' },
    );
    const asked = { tools: [ADVISOR] };
    const content: any[] = stream
      ? (await tools.stream('/messages', 'm/chat', asked)).flatMap(({ data }) => data.content_block ?? [])
      : (await tools.ask('/messages', 'm/chat', asked)).body.content;
    const [use, result] = content;
    expect(use).toMatchObject({ type: 'server_tool_use', name: 'advisor' });
    expect(result).toMatchObject({
      type: 'advisor_tool_result',
      tool_use_id: use.id,
      content: { type: 'advisor_result', text: 'Slowly.' },
    });
    if (stream) return;
    tools.upstream.clear();
    tools.answers('m/chat', { text: 'Yes.' });
    const messages = [
      { role: 'user', content: 'Advise me.' },
      { role: 'assistant', content },
      { role: 'user', content: 'Sure?' },
    ];
    await tools.ask('/messages', 'm/chat', { messages, tools: [ADVISOR] });
    const result2 = tools.upstream.requests[0]?.json.messages.find(({ role }: any) => role === 'tool');
    expect(JSON.parse(result2.content)).toEqual({ status: 'ok', advice: 'Slowly.' });
  });

  it('later versions of search and fetch run here too', async () => {
    engine.answer(reply(200, { results: [PAGE] }));
    const searched = { type: 'web_search_20260318', name: 'web_search' };
    tools.answers('m/chat', { tools: [call('web_search', { query: 'word' })] }, { text: 'Heliotrope.' });
    const found = await tools.ask('/messages', 'm/chat', { tools: [searched] });
    expect(found.body.content[1].type).toBe('web_search_tool_result');
    tools.upstream.clear();
    const fetched = { type: 'web_fetch_20260318', name: 'web_fetch' };
    tools.answers('m/chat', { tools: [call('web_fetch', { url: 'http://10.0.0.1/a' })] }, { text: 'No.' });
    const { body } = await tools.ask('/messages', 'm/chat', { tools: [fetched] });
    expect(body.content[1].type).toBe('web_fetch_tool_result');
  });

  it('versions of releases to come run here, and the report does not say that they were dropped', async () => {
    engine.answer(reply(200, { results: [PAGE] }));
    tools.answers('m/chat', { tools: [call('web_search', { query: 'word' })] }, { text: 'Heliotrope.' });
    const { body } = await tools.ask('/messages', 'm/chat', {
      tools: [
        { type: 'web_search_20990101', name: 'web_search' },
        { type: 'computer_20990101', name: 'computer' },
      ],
    });
    expect(body.content.at(-1)).toMatchObject({ type: 'text', text: 'Heliotrope.' });
    expect(body.signalbox_metadata.translation).toEqual([
      { field: 'tools[1]', action: 'dropped', detail: expect.stringContaining('computer_20990101') },
    ]);
  });

  it('a page that may not be fetched is not allowed', async () => {
    const fetched = { type: 'web_fetch_20250910', name: 'web_fetch', blocked_domains: ['blocked.test'] };
    for (const url of ['https://blocked.test/a', 'http://10.0.0.1/a', 'http://localhost/a']) {
      tools.upstream.clear();
      tools.answers('m/chat', { tools: [call('web_fetch', { url })] }, { text: 'No.' });
      const { body } = await tools.ask('/messages', 'm/chat', { tools: [fetched] });
      expect(body.content[1], url).toMatchObject({
        type: 'web_fetch_tool_result',
        content: { type: 'web_fetch_tool_result_error', error_code: 'url_not_allowed' },
      });
    }
  });
});

it('an item of datetime has a time although its zone is unknown', async () => {
  tools.answers('m/chat', { tools: [call('datetime', { timezone: 'Nowhere/At_All' })] }, { text: 'Hm.' });
  const { body } = await tools.ask('/responses', 'm/chat', { tools: [{ type: 'signalbox:datetime' }] });
  expect(body.output[0]).toMatchObject({
    status: 'failed',
    datetime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    timezone: 'UTC',
    error: expect.stringContaining('time zone'),
  });
});
