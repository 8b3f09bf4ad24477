import { FUSION, isFusionModel } from '../catalog/fusion-team.ts';
import { pluginIn } from '../ir/plugins.ts';
import type { GenerationRequest, Tool } from '../ir/request.ts';
import { WEB_FETCH } from '../ir/web-notes.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { objectAt, objectsAt, withoutNulls } from '../kit/json/members.ts';
import type { ServerTool, ToolSettings } from './server-tool.ts';
import { SERVER_TOOLS, toolForHosted } from './table.ts';

/** A tool as the request's format writes it. */
export type HostedTool = Extract<Tool, { type: 'hosted' }>;

/** A tool of the request that the gateway could run. */
export interface WantedTool {
  readonly of: HostedTool;
  readonly tool: ServerTool;
  readonly parameters: JsonObject;
  /** Set if an upstream may run it instead. */
  readonly hostedAs: string | undefined;
  /** Members of its items that are known before it has run. */
  readonly shown?: JsonObject;
  /** JSON Schema that its arguments must fit; absent = the one that the model is shown. */
  readonly schema?: JsonObject;
  /** True if a choice of a hosted tool means it; absent = the type or name of the tool decides. */
  readonly isChosen?: (choice: JsonObject) => boolean;
}

/** The tools of a request that the gateway could run, by their own type or by a hosted one. */
export function wantedTools({ tools }: GenerationRequest, settings: ToolSettings): readonly WantedTool[] {
  let wanted: WantedTool[] | undefined;
  for (const tool of tools) {
    if (tool.type !== 'hosted') continue;
    const found = wantedTool(tool, settings);
    if (found === undefined) continue;
    wanted ??= [];
    wanted.push(found);
  }
  return wanted ?? NONE;
}

const NONE: readonly WantedTool[] = [];

function wantedTool(of: HostedTool, settings: ToolSettings): WantedTool | undefined {
  const prefix = `${settings.vendor}:`;
  if (of.kind.startsWith(prefix)) {
    const tool = SERVER_TOOLS.get(of.kind.slice(prefix.length));
    const parameters = withoutNulls(objectAt(of.value, 'parameters') ?? {});
    return tool && { of, tool, parameters, hostedAs: undefined };
  }
  const tool = toolForHosted(of.kind);
  if (tool?.formats?.some((format) => format === of.dialect) === false) return undefined;
  const parameters = tool?.ofHosted?.(withoutNulls(of.value), settings);
  return tool && parameters && { of, tool, parameters, hostedAs: of.kind };
}

/** True if the gateway may have to run a tool for a request. */
export function hasToolWork(request: GenerationRequest, settings: ToolSettings): boolean {
  return (
    wantedTools(request, settings).length > 0 ||
    wantsFusion(request, settings.vendor) ||
    pluginIn(request, WEB_FETCH) !== undefined ||
    request.tools.some(isMcpServer) ||
    listedMcpServers(request).length > 0 ||
    searchOptions(request) !== undefined
  );
}

export function listedMcpServers({ body, formatFacts }: GenerationRequest): readonly JsonObject[] {
  const field = formatFacts.conversation?.mcpServersField;
  return field === undefined ? [] : objectsAt(body, field);
}

export function searchOptions({ body, formatFacts }: GenerationRequest): JsonObject | undefined {
  const options = formatFacts.conversation?.searchOptions;
  return options === undefined ? undefined : objectAt(body, options.field);
}

/** The kind of hosted tool that stands for all tools of an MCP server. */
export const MCP = 'mcp';

/** True for an MCP server that the gateway could call. Connectors exist only at their own provider. */
export function isMcpServer(tool: Tool): tool is HostedTool {
  return tool.type === 'hosted' && tool.kind === MCP && (tool.value.connector_id ?? null) === null;
}

/** True if a request asks for fusion, by its plugin or by the id of its model. */
export function wantsFusion(request: GenerationRequest, vendor: string): boolean {
  return pluginIn(request, FUSION) !== undefined || request.models.some((id) => isFusionModel(id, vendor));
}
