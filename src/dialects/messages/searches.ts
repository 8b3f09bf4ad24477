import type { GenerationRequest, Tool } from '../../ir/request.ts';
import type { Json, JsonObject } from '../../kit/json.ts';
import { numberAt } from '../../kit/members.ts';
import type { SearchRules } from '../dialect.ts';

type HostedTool = Extract<Tool, { type: 'hosted' }>;

/** The upstream searches by a tool that it runs itself, and takes a limit for each such tool. */
export const searches: SearchRules = {
  asked({ tools }) {
    return tools
      .filter(isSearch)
      .reduce((sum, { value }) => sum + (numberAt(value, 'max_uses') ?? Number.POSITIVE_INFINITY), 0);
  },
  bound(request, most) {
    const bounded = new Map(boundTools(request.tools.filter(isSearch), most));
    const tools = request.tools.map((tool) => (isSearch(tool) ? (bounded.get(tool.value) ?? tool) : tool));
    return { request: { ...request, tools, body: withTools(request, bounded) }, field: 'tools' };
  },
};

function isSearch(tool: Tool): tool is HostedTool {
  return tool.type === 'hosted' && tool.dialect === 'messages' && tool.kind.startsWith('web_search');
}

/** The tools with limits that together are at most `most`, or one each, by what they were. */
function boundTools(tools: readonly HostedTool[], most: number): [JsonObject, HostedTool][] {
  let left = most;
  return tools.map((tool) => {
    const uses = Math.max(1, Math.min(numberAt(tool.value, 'max_uses') ?? left, left));
    left -= uses;
    return [tool.value, { ...tool, value: { ...tool.value, max_uses: uses } }];
  });
}

/** The caller's own body, for the relay lane. */
function withTools({ body }: GenerationRequest, bounded: ReadonlyMap<JsonObject, HostedTool>): JsonObject {
  if (!Array.isArray(body.tools)) return body;
  const changed = (tool: Json): Json => bounded.get(tool as JsonObject)?.value ?? tool;
  return { ...body, tools: body.tools.map(changed) };
}
