import type { GenerationRequest, Tool } from '../../ir/request.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { compact, textAt } from '../../kit/json/members.ts';
import type { HostedTool } from '../shared/requests/native-search.ts';
import {
  type AskedTool,
  askedAmong,
  type HostedTools,
  ONLY_TOKENS,
  type ToolRow,
  UNBOUNDED,
} from '../shared/tools/hosted-tools.ts';
import { searchBySwitch } from '../shared/tools/search-switches.ts';

/** Tools by their type. Fetched pages and found tools cost tokens alone (Anthropic, Pricing, Tool use). */
const ROWS: readonly ToolRow[] = [
  { type: /^web_search/, units: () => ({ web_search: 1 }) },
  { type: /^web_fetch/, units: ONLY_TOKENS },
  { type: /^code_execution/, units: () => ({ code_execution: 1 }), isOnce: true },
  { type: /^(?:tool_search|mcp)/, units: ONLY_TOKENS },
  { type: /^(?:bash|text_editor|computer|memory|custom)/ },
];

/** Searches and fetches that filter what they find run code, which then costs nothing (the same page). */
const FILTERING = /^web_(?:search|fetch)_20(?:2[6-9]|[3-9]\d)/;

/** The upstream may answer with a model of its own choice, at the prices of that model. */
const OWN_FALLBACKS: AskedTool = { kind: 'fallbacks', most: 1, isBoundable: false };

/** The upstream searches, fetches and runs code with tools of its own, and accepts a limit for some. */
export const hosted: HostedTools = {
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
  prices: ['web_search', 'code_execution'],
  asked({ format, body, tools, ext }) {
    const among = askedAmong(tools, 'messages', ROWS, (kind, tool) =>
      IS_BOUNDABLE.test(kind) ? { most: usesOf(tool), isBoundable: true } : UNBOUNDED,
    );
    const asked = among.some(({ kind }) => FILTERING.test(kind)) ? among.map(withFreeCode) : among;
    const fallbacks = ext.messages?.fallbacks === undefined ? undefined : OWN_FALLBACKS;
    const search = format === 'messages' ? searchBySwitch(body) : undefined;
    const more = [fallbacks, search].filter((each) => each !== undefined);
    return more.length === 0 ? asked : [...asked, ...more];
  },
  run(items, asked) {
    let calls = 0;
    let searches = 0;
    let hasRunCode = false;
    for (const item of items) {
      if (item.type !== 'opaque' || item.dialect !== 'messages') continue;
      const { type } = item.value;
      if (type !== 'server_tool_use' && type !== 'mcp_tool_use') continue;
      calls += 1;
      if (type === 'mcp_tool_use') continue;
      const name = textAt(item.value, 'name') ?? '';
      if (name === 'web_search') searches += 1;
      else hasRunCode ||= name.endsWith('code_execution');
    }
    const code = hasRunCode
      ? (asked.find(({ units }) => units?.code_execution)?.units?.code_execution ?? 0)
      : 0;
    return { calls, searches, hosted: code === 0 ? {} : { code_execution: code } };
  },
  bound(request, most) {
    const bounded = boundTools(request.tools.filter(isBoundable), most);
    const tools = request.tools.flatMap((tool): readonly Tool[] => {
      if (!isBoundable(tool)) return [tool];
      const kept = bounded.get(tool.value);
      return kept === undefined ? [] : [kept];
    });
    return { request: { ...request, tools, body: withTools(request, bounded) }, field: 'tools' };
  },
};

/** Types of the tools whose calls `max_uses` limits. */
const IS_BOUNDABLE = /^web_(?:search|fetch)/;

function isBoundable(tool: Tool): tool is HostedTool {
  return tool.type === 'hosted' && tool.dialect === 'messages' && IS_BOUNDABLE.test(tool.kind);
}

function withFreeCode(tool: AskedTool): AskedTool {
  return tool.units?.code_execution === undefined ? tool : { ...tool, units: {} };
}

/** Tools of undocumented types are not validated: an invalid limit counts as none. */
function usesOf({ max_uses: uses }: JsonObject): number {
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
      const uses = Math.min(usesOf(tool.value), left);
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
