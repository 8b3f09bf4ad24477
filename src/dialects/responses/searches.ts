import type { SearchRules } from '../dialect.ts';

/** The upstream searches by a tool that it runs itself. One limit counts all calls of such tools. */
export const searches: SearchRules = {
  asked({ tools, wishes }) {
    const isAsked = tools.some(
      (tool) => tool.type === 'hosted' && tool.dialect === 'responses' && tool.kind.startsWith('web_search'),
    );
    return isAsked ? (wishes.maxToolCalls ?? Number.POSITIVE_INFINITY) : 0;
  },
  bound(request, most) {
    const wishes = { ...request.wishes, maxToolCalls: most };
    const body = { ...request.body, max_tool_calls: most };
    return { request: { ...request, wishes, body }, field: 'max_tool_calls' };
  },
};
