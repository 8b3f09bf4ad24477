import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../../test/builders/request.ts';
import type { Format } from '../../../ir/items.ts';
import type { GenerationRequest, Tool } from '../../../ir/request.ts';
import { searches as chat } from '../../chat/render-searches.ts';
import { searches as messages } from '../../messages/render-searches.ts';
import { searches as responses } from '../../responses/render-searches.ts';

const INFINITE = Number.POSITIVE_INFINITY;

function hosted(dialect: Format, kind: string, value: object = {}): Tool {
  return { type: 'hosted', dialect, kind, value: { type: kind, ...value } };
}

/** A request whose body holds the very same tools. */
function asking(tools: Tool[], more: Partial<GenerationRequest> = {}): GenerationRequest {
  const values = tools.map((tool) => (tool.type === 'hosted' ? tool.value : {}));
  return { ...requestOf(), tools, body: { tools: values }, ...more };
}

const bounded = (request: GenerationRequest, most: number) => messages.bound?.(request, most).request;

describe('searches that a request allows', () => {
  it('are those of the tool in the messages format', () => {
    const kind = 'web_search_20250305';
    expect(messages.asked(asking([]))).toBe(0);
    expect(messages.asked(asking([hosted('messages', 'bash_20250124')]))).toBe(0);
    expect(messages.asked(asking([hosted('responses', 'web_search')]))).toBe(0);
    expect(messages.asked(asking([hosted('messages', kind)]))).toBe(INFINITE);
    expect(messages.asked(asking([hosted('messages', kind, { max_uses: 3 })]))).toBe(3);
    expect(messages.asked(asking([hosted('messages', 'web_fetch_20250910', { max_uses: 2 })]))).toBe(2);
  });

  it.each([-5, 0, 0.5, '3', null])('are unlimited where the limit is %j, which is none', (max_uses) => {
    const tools = [
      hosted('messages', 'web_search_20270101', { max_uses }),
      hosted('messages', 'web_search_20250305', { max_uses: 5 }),
    ];
    expect(messages.asked(asking(tools))).toBe(INFINITE);
  });

  it('are all calls of hosted tools in the responses format', () => {
    const search = asking([hosted('responses', 'web_search_preview')]);
    expect(responses.asked(asking([hosted('responses', 'file_search')]))).toBe(0);
    expect(responses.asked(search)).toBe(INFINITE);
    const added = { type: 'additional_tools', tools: [{ type: 'web_search' }] };
    expect(responses.asked(asking([], { format: 'responses', body: { input: [added] } }))).toBe(INFINITE);
    expect(responses.asked({ ...search, wishes: { ...search.wishes, maxToolCalls: 4 } })).toBe(4);
  });

  it('have no limit in chat completions', () => {
    expect(chat.asked(asking([]))).toBe(0);
    const options = asking([], { format: 'chat', body: { web_search_options: {} } });
    expect(chat.asked(options)).toBe(INFINITE);
    expect(chat.asked(options, new Set(['tools']))).toBe(0);
    expect(chat.asked(asking([], { format: 'chat', body: { enable_search: true } }))).toBe(INFINITE);
    expect(chat.asked(asking([hosted('chat', 'web_search')]))).toBe(INFINITE);
    expect(chat.bound).toBeUndefined();
  });
});

describe('a limit of searches', () => {
  it('is written into every search tool of the messages format, in both lanes, and into nothing else', () => {
    const tools = [
      hosted('messages', 'web_search_20250305', { max_uses: 2, name: 'web_search' }),
      hosted('messages', 'bash_20250124'),
      hosted('messages', 'web_search_20260209'),
    ];
    const request = bounded(asking(tools), 5);
    expect(request?.body.tools).toEqual([
      { type: 'web_search_20250305', max_uses: 2, name: 'web_search' },
      { type: 'bash_20250124' },
      { type: 'web_search_20260209', max_uses: 3 },
    ]);
    expect(request?.tools.map((tool) => (tool.type === 'hosted' ? tool.value : undefined))).toEqual(
      request?.body.tools,
    );
    expect(request?.tools[1]).toBe(tools[1]);
    expect(bounded(asking(tools), 2)?.body.tools).toEqual([
      { type: 'web_search_20250305', max_uses: 2, name: 'web_search' },
      { type: 'bash_20250124' },
    ]);
  });

  it('is a field of the responses format', () => {
    const { request, field } = responses.bound?.(asking([hosted('responses', 'web_search')]), 3) ?? {};
    expect(field).toBe('max_tool_calls');
    expect(request?.wishes.maxToolCalls).toBe(3);
    expect(request?.body).toMatchObject({ max_tool_calls: 3 });
  });
});
