import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { messagesBody, messagesFrames, sse } from '../../kit/fakes/answers.ts';
import { end, head, JSON_TYPE, type Script, SSE, write } from '../../kit/fakes/fake-upstream.ts';
import { PATHS as ALL_PATHS, openToolGateway, type ToolGateway, textOf } from './tool-gateway.ts';

/** Turns that a messages upstream pauses while its own tools run (`pause_turn`), before callers of other formats. */

let tools: ToolGateway;
beforeAll(async () => {
  tools = await openToolGateway({ tools: { limits: { steps: 2 } } });
});
beforeEach(() => tools.upstream.clear());
afterAll(() => tools.close());

const SEARCHES = {
  'of a server tool': { tools: [{ type: 'signalbox:web_search', parameters: { engine: 'native' } }] },
  'of the web plugin': { plugins: [{ id: 'web', engine: 'native' }] },
} as const;

const SEARCH = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'a' } };

/** An answer that the upstream pauses after it has begun to search. */
function paused(text: string): Script {
  return (request) => {
    const usage = { input: 10, output: 2 };
    if (request.json?.stream !== true) {
      const body = messagesBody({ text, usage }) as any;
      const whole = { ...body, content: [...body.content, SEARCH], stop_reason: 'pause_turn' };
      return [head(200, JSON_TYPE), write(JSON.stringify(whole)), end()];
    }
    const frames = messagesFrames({ text, usage }).flatMap(({ event, data }: any) => {
      if (event !== 'message_delta') return [{ event, data }];
      const block = { type: 'content_block_start', index: 1, content_block: SEARCH };
      return [
        { event: 'content_block_start', data: block },
        { event: 'content_block_stop', data: { type: 'content_block_stop', index: 1 } },
        { event, data: { ...data, delta: { ...data.delta, stop_reason: 'pause_turn' } } },
      ];
    });
    return [head(200, SSE), write(sse(frames)), end()];
  };
}

const PATHS = ['/responses', '/chat/completions'] as const;
const CASES = PATHS.flatMap((path) =>
  (Object.keys(SEARCHES) as (keyof typeof SEARCHES)[]).map((search) => ({ path, search })),
);

const bodies = () => tools.upstream.requests.map(({ json }) => json as any);

describe('a paused turn with a search', () => {
  it.each(CASES)('$search goes on by itself on $path', async ({ path, search }) => {
    tools.upstream.answer(paused('First. '));
    tools.answers('m/messages', { text: 'Then.', usage: { input: 20, output: 3 } });
    const { status, body } = await tools.ask(path, 'm/messages', SEARCHES[search]);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(textOf[path](body)).toContain('First. ');
    expect(textOf[path](body)).toContain('Then.');
    if (path === '/responses') expect(body).toMatchObject({ status: 'completed', incomplete_details: null });
    else expect(body.choices[0].finish_reason).toBe('stop');
    expect(body.usage).toMatchObject(
      path === '/responses' ? { input_tokens: 30, output_tokens: 5 } : { prompt_tokens: 30 },
    );
    const [first, second, ...more] = bodies();
    expect(more).toEqual([]);
    expect(second.tools).toEqual(first.tools);
    expect(second.messages.slice(0, -1)).toEqual(first.messages);
    const { role, content } = second.messages.at(-1);
    expect(role).toBe('assistant');
    expect(content).toMatchObject([{ type: 'text', text: 'First. ' }, SEARCH]);
  });

  it.each(CASES)('$search goes on in the stream of $path', async ({ path, search }) => {
    tools.upstream.answer(paused('First. '));
    tools.answers('m/messages', { text: 'Then.' });
    const events = await tools.stream(path, 'm/messages', SEARCHES[search]);
    const texts = events.flatMap(({ data }) =>
      data.type === 'response.output_text.delta' ? data.delta : (data.choices?.[0]?.delta.content ?? ''),
    );
    expect(texts.join('')).toBe('First. Then.');
    const last = events.find(({ event }) => event === 'response.completed');
    expect(last === undefined).toBe(path !== '/responses');
    expect(bodies()).toHaveLength(2);
  });

  it.each(PATHS)("ends as one that is cut after the operator's limit of steps on %s", async (path) => {
    for (let count = 0; count < 4; count++) tools.upstream.answer(paused('More. '));
    const { body } = await tools.ask(path, 'm/messages', SEARCHES['of a server tool']);
    expect(bodies()).toHaveLength(3);
    if (path === '/responses') {
      expect(body.status).toBe('incomplete');
      expect(body.incomplete_details).toEqual({ reason: 'max_output_tokens' });
    } else {
      expect(body.choices[0]).toMatchObject({
        finish_reason: 'length',
        native_finish_reason: 'pause_turn',
      });
    }
  });

  it('ends where the amount of the request is spent', async () => {
    tools.upstream.answer(paused('First. '));
    const stop_server_tools_when = [{ type: 'max_cost', max_cost_in_dollars: 0.000001 }];
    const { body } = await tools.ask('/responses', 'm/messages', {
      ...SEARCHES['of a server tool'],
      stop_server_tools_when,
    });
    expect(body).toMatchObject({ status: 'incomplete' });
    expect(bodies()).toHaveLength(1);
  });

  it('is left to callers of messages, who continue it themselves', async () => {
    tools.upstream.answer(paused('First. '));
    const { body } = await tools.ask('/messages', 'm/messages', SEARCHES['of a server tool']);
    expect(body.stop_reason).toBe('pause_turn');
    expect(bodies()).toHaveLength(1);
  });
});

describe('a paused turn of a model that a tool asks', () => {
  const TASK = JSON.stringify({ task_name: 'a', task_description: 'b' });
  const asks = (...tools: object[]) => ({
    tools: [{ type: 'signalbox:subagent', parameters: { model: 'm/messages', tools } }],
  });
  const CASES = {
    'with a search': asks({ type: 'signalbox:web_search', parameters: { engine: 'native' } }),
    'without tools': asks(),
  } as const;
  const all = ALL_PATHS.flatMap((path) =>
    (Object.keys(CASES) as (keyof typeof CASES)[]).map((which) => ({ path, which })),
  );

  it.each(all)('goes on $which on $path', async ({ path, which }) => {
    tools.answers('m/messages', { tools: [{ id: 'toolu_1', name: 'subagent', arguments: TASK }] });
    tools.upstream.answer(paused('First. '));
    tools.answers('m/messages', { text: 'Then.' }, { text: 'Done.' });
    const { status, body } = await tools.ask(path, 'm/messages', CASES[which]);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(textOf[path](body)).toBe('Done.');
    const [, begun, continued, last, ...more] = bodies();
    expect(more).toEqual([]);
    const ownSearch = { type: 'web_search_20250305', name: 'web_search' };
    expect(begun.tools).toEqual(which === 'with a search' ? [ownSearch] : undefined);
    expect(continued.tools).toEqual(begun.tools);
    expect(continued.messages).toEqual([
      ...begun.messages,
      { role: 'assistant', content: [{ type: 'text', text: 'First. ' }, SEARCH] },
    ]);
    expect(JSON.stringify(last.messages.at(-1))).toContain('First. Then.');
  });

  it("ends after the operator's limit of steps", async () => {
    tools.answers('m/messages', { tools: [{ id: 'toolu_1', name: 'subagent', arguments: TASK }] });
    for (let count = 0; count < 3; count++) tools.upstream.answer(paused('More. '));
    tools.answers('m/messages', { text: 'Done.' });
    const { body } = await tools.ask('/responses', 'm/messages', CASES['without tools']);
    expect(textOf['/responses'](body)).toBe('Done.');
    expect(JSON.stringify(bodies().at(-1).messages.at(-1))).toContain('More. More. More. ');
  });
});
