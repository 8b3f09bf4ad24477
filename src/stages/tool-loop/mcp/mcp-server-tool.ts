import Type from 'typebox';
import { mcpFunctionName, mcpToolName } from '../../../ir/mcp-function-name.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { McpProblem } from '../../../mcp/client/mcp-problem.ts';
import type { RemoteServer } from '../../../mcp/client/remote-server.ts';
import type { RemoteTool } from '../../../mcp/client/remote-tool.ts';
import type { GrantedServers } from '../../../mcp/granted-servers.ts';
import type { ServerTool, ToolOutcome } from '../../../tools/server-tool.ts';
import { MCP } from '../../../tools/wanted-tools.ts';

/** Types of the items that callers see. */
export const MCP_CALL = 'mcp_call';
export const MCP_LIST_TOOLS = 'mcp_list_tools';
export const MCP_APPROVAL_REQUEST = 'mcp_approval_request';
/** Type of the blocks of the messages format, for servers that it lists beside its tools. */
export const MCP_TOOL_USE = 'mcp_tool_use';

export interface McpTool {
  readonly server: RemoteServer;
  readonly tool: RemoteTool;
  /** What the server is for. */
  readonly about: string | undefined;
  /** Calls end the answer, and run once the caller has approved them. */
  readonly needsApproval: boolean;
}

export function mcpServerTool(
  { server, tool, about, needsApproval }: McpTool,
  granted: GrantedServers,
): ServerTool {
  const described = about === undefined ? tool.description : `${tool.description}\n\n${about}`;
  return {
    name: MCP,
    recordName: mcpToolName(server.label, tool.name),
    ...(!needsApproval && { failureMembers: { output: null } }),
    parameters: Type.Object({}),
    declare: () => ({
      name: mcpFunctionName(server.label, tool.name),
      description: described,
      parameters: tool.inputSchema,
    }),
    async run({ arguments: given }, { caller, signal, told }): Promise<ToolOutcome> {
      const known = membersOf(server.label, tool.name);
      if (needsApproval) return { output: '', shown: known, ends: true, isRun: false };
      return callOutcome(known, () =>
        granted.callForText(server, caller, tool, given, signal, { trace: told?.headers }),
      );
    },
  };
}

/** Members of an item that are known before its tool has run. */
export function membersOf(label: string, name: string): JsonObject {
  return { server_label: label, name };
}

/** Calls a tool; if its server fails, the outcome is an error that the model gets. */
export async function callOutcome(
  known: JsonObject,
  call: () => Promise<{ readonly text: string; readonly isError: boolean }>,
): Promise<ToolOutcome> {
  try {
    const { text, isError } = await call();
    if (isError) return failedCall(known, text === '' ? 'the tool reported an error' : text);
    return { output: text, shown: { ...known, output: text, error: null } };
  } catch (problem) {
    if (!(problem instanceof McpProblem)) throw problem;
    return failedCall(known, problem.message);
  }
}

export function failedCall(known: JsonObject, error: string): ToolOutcome {
  return { output: error, shown: { ...known, output: null, error }, isFailed: true };
}
