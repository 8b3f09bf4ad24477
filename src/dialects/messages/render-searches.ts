import type { GenerationRequest, Tool } from '../../ir/request.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { compact } from '../../kit/json/members.ts';
import type { SearchRules } from '../dialect.ts';
import type { HostedTool } from '../shared/requests/native-search.ts';

/** The upstream searches and fetches with tools that it runs, and accepts a limit for each. */
export const searches: SearchRules = {
  native: {
    takes: new Set(['include_domains', 'exclude_domains', 'max_uses', 'user_location']),
    hasToolsBeside: true,
    tool({ allowed, blocked, maxUses, userLocation }) {
      const kind = 'web_search_20250305';
      const value = compact({
        type: kind,
        name: 'web_search',
        max_uses: maxUses,
        allowed_domains: allowed && [...allowed],
        // The upstream takes one of the two lists.
        blocked_domains: allowed === undefined ? blocked && [...blocked] : undefined,
        user_location: userLocation,
      });
      return { type: 'hosted', dialect: 'messages', kind, value: value as JsonObject };
    },
  },
  asked({ tools }) {
    return tools.filter(isSearch).reduce((sum, tool) => sum + usesOf(tool), 0);
  },
  bound(request, most) {
    const bounded = boundTools(request.tools.filter(isSearch), most);
    const tools = request.tools.flatMap((tool): readonly Tool[] => {
      if (!isSearch(tool)) return [tool];
      const kept = bounded.get(tool.value);
      return kept === undefined ? [] : [kept];
    });
    return { request: { ...request, tools, body: withTools(request, bounded) }, field: 'tools' };
  },
};

function isSearch(tool: Tool): tool is HostedTool {
  return tool.type === 'hosted' && tool.dialect === 'messages' && /^web_(?:search|fetch)/.test(tool.kind);
}

/** Tools of undocumented types are not validated: an invalid limit counts as none. */
function usesOf({ value }: HostedTool): number {
  const { max_uses: uses } = value;
  return typeof uses === 'number' && Number.isInteger(uses) && uses >= 1 ? uses : Number.POSITIVE_INFINITY;
}

/** Tools with limits of at most `most` in sum, by the value of the caller's tool; undefined = no use is left for it. */
function boundTools(
  tools: readonly HostedTool[],
  most: number,
): ReadonlyMap<JsonObject, HostedTool | undefined> {
  let left = most;
  return new Map(
    tools.map((tool) => {
      const uses = Math.min(usesOf(tool), left);
      left -= uses;
      return [tool.value, uses < 1 ? undefined : { ...tool, value: { ...tool.value, max_uses: uses } }];
    }),
  );
}

/** The caller's own body, for the relay lane. */
function withTools(
  { body }: GenerationRequest,
  bounded: ReadonlyMap<JsonObject, HostedTool | undefined>,
): JsonObject {
  if (!Array.isArray(body.tools)) return body;
  const tools = body.tools.flatMap((tool): Json[] => {
    if (!bounded.has(tool as JsonObject)) return [tool];
    const kept = bounded.get(tool as JsonObject);
    return kept === undefined ? [] : [kept.value];
  });
  return { ...body, tools };
}
