import type { Endpoint } from '../../catalog/catalog.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import type { DialectName, Ext } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { membersBeyond } from '../../kit/json/members.ts';
import type { ToolSettings } from '../../tools/server-tool.ts';
import { type HostedTool, searchOptions, wantedTools } from '../../tools/wanted-tools.ts';
import { DEFAULT_SEARCHES, webSearch } from '../../tools/web-search.ts';

/**
 * The request with the hosted search tool in the place of options that ask for searches, if the gateway can search and
 * none of the endpoints takes the options.
 */
export function withSearchTool(
  request: GenerationRequest,
  endpoints: readonly Endpoint[],
  settings: ToolSettings,
): GenerationRequest {
  const form = request.formatFacts.conversation?.searchOptions;
  const options = searchOptions(request);
  if (form === undefined || options === undefined || endpoints.length === 0) return request;
  const { field, dialect } = form;
  if (endpoints.some((endpoint) => takes(endpoint, request, field))) return request;
  if (wantedTools(request, settings).some(({ tool }) => tool === webSearch)) return request;
  const isBounded = hasOwnLimit(request, settings);
  const value = { ...form.tool(options), ...(!isBounded && { max_uses: DEFAULT_SEARCHES }) };
  const tool: HostedTool = { type: 'hosted', dialect, kind: value.type, value };
  if (wantedTools({ ...request, tools: [tool] }, settings).length === 0) return request;
  request.places.put(tool, field);
  return {
    ...request,
    tools: [...request.tools, tool],
    ext: withoutMember(request.ext, dialect, field),
    ...(!isBounded && { wishes: { ...request.wishes, maxToolCalls: DEFAULT_SEARCHES } }),
  };
}

/**
 * True if the request limits the calls of its tools, or asks for other tools of the gateway. Upstreams that take the
 * options search a few times; a model that the gateway searches for may never have enough.
 */
function hasOwnLimit(request: GenerationRequest, settings: ToolSettings): boolean {
  const { maxToolCalls, stopServerToolsWhen } = request.wishes;
  if (maxToolCalls !== undefined || stopServerToolsWhen !== undefined) return true;
  return wantedTools(request, settings).length > 0;
}

/** True if the upstream gets the options, and searches by itself. */
function takes(
  { provider: { dialect }, supportedParameters }: Endpoint,
  request: GenerationRequest,
  field: string,
): boolean {
  if (dialect === 'simulator') return false;
  const asked = DIALECTS[dialect].upstream.hosted?.asked(request, supportedParameters) ?? [];
  return asked.some(({ kind }) => kind === field);
}

function withoutMember(ext: Ext, dialect: DialectName, member: string): Ext {
  const members = membersBeyond(ext[dialect] ?? {}, new Set([member]));
  const { [dialect]: _, ...others } = ext;
  return members === undefined ? others : { ...others, [dialect]: members };
}
