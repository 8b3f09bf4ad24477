import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, objectsAt, stringAt } from '../../kit/json/members.ts';
import type { SearchRules } from '../dialect.ts';

/** The upstream searches with a tool that it runs. One limit counts all calls of such tools. */
export const searches: SearchRules = {
  native: {
    takes: new Set(['include_domains', 'max_uses', 'user_location']),
    hasToolsBeside: true,
    isBoundByToolCalls: true,
    tool({ allowedHosts, userLocation }) {
      const value = compact({
        type: 'web_search',
        filters: allowedHosts && { allowed_domains: [...allowedHosts] },
        user_location: userLocation,
      });
      return { type: 'hosted', dialect: 'responses', kind: 'web_search', value: value as JsonObject };
    },
  },
  asked(request) {
    return hasSearch(request) ? (request.wishes.maxToolCalls ?? Number.POSITIVE_INFINITY) : 0;
  },
  bound(request, most) {
    const wishes = { ...request.wishes, maxToolCalls: most };
    const body = { ...request.body, max_tool_calls: most };
    return { request: { ...request, wishes, body }, field: 'max_tool_calls' };
  },
};

/** True if a tool of the request, or one that its items add, searches. */
function hasSearch({ tools, format, body }: GenerationRequest): boolean {
  return (
    tools.some((tool) => tool.type === 'hosted' && tool.dialect === 'responses' && isSearch(tool.kind)) ||
    (format === 'responses' && objectsAt(body, 'input').some(addsSearch))
  );
}

function addsSearch(item: JsonObject): boolean {
  return (
    item.type === 'additional_tools' &&
    objectsAt(item, 'tools').some((tool) => isSearch(stringAt(tool, 'type') ?? ''))
  );
}

function isSearch(kind: string): boolean {
  return kind.startsWith('web_search');
}
