import { textBlock } from '../../ir/tool-result-block.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringAt } from '../../kit/json/members.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { misfitText, schemaFault } from '../../kit/json-schema/schema-fault.ts';
import { quoted } from '../../kit/text/quoted.ts';
import {
  PROTOCOL_VERSIONS,
  RPC_ERRORS,
  type RpcMessage,
  readMessage,
  rpcError,
  rpcNotification,
  rpcResult,
} from '../protocol.ts';
import type { OfferedTool, ToolResult, ToolRun } from './offered-tool.ts';

/** What the gateway does for an MCP client. */
export interface McpService {
  readonly serverInfo: { readonly name: string; readonly version: string };
  tools(): Promise<readonly OfferedTool[]>;
  toolNamed(name: string): Promise<OfferedTool | undefined>;
  /** Runs a tool as a generation of its own. Rejects with a GatewayError. */
  call(tool: OfferedTool, given: JsonObject): Promise<ToolResult>;
  /** Sends a notification before the reply; absent = the client does not take any. */
  notify?(message: JsonObject): void;
}

/** Steps of validating the arguments of one call; what is beyond counts as valid. */
const MAX_SCHEMA_STEPS = 10_000;

/** The reply to a message; undefined = it is none that gets one. Each message stands alone: there are no sessions. */
export async function answerMessage(body: JsonObject, service: McpService): Promise<JsonObject | undefined> {
  const message = readMessage(body);
  if (message === undefined) {
    return rpcError(null, RPC_ERRORS.invalidRequest, 'the body is no message of JSON-RPC 2.0');
  }
  if (message.kind !== 'request') return undefined;
  const method = METHODS[message.method];
  if (method !== undefined) return method(message, service);
  return rpcError(message.id, RPC_ERRORS.unknownMethod, `there is no method ${quoted(message.method)}`);
}

type Request = Extract<RpcMessage, { kind: 'request' }>;

const METHODS: Readonly<
  Record<string, ((request: Request, service: McpService) => Promise<JsonObject>) | undefined>
> = Object.assign(Object.create(null), { initialize, ping, 'tools/list': listTools, 'tools/call': callTool });

async function initialize({ id, params }: Request, { serverInfo }: McpService): Promise<JsonObject> {
  const asked = stringAt(params, 'protocolVersion') ?? '';
  const [newest] = PROTOCOL_VERSIONS;
  return rpcResult(id, {
    protocolVersion: PROTOCOL_VERSIONS.includes(asked) ? asked : newest,
    capabilities: { tools: {} },
    serverInfo: { ...serverInfo },
  });
}

async function ping({ id }: Request): Promise<JsonObject> {
  return rpcResult(id, {});
}

async function listTools({ id }: Request, service: McpService): Promise<JsonObject> {
  const tools = (await service.tools()).map(
    ({ name, description, inputSchema, outputSchema, presentation }) => ({
      name,
      description,
      inputSchema,
      ...(outputSchema !== undefined && { outputSchema }),
      ...presentation,
    }),
  );
  return rpcResult(id, { tools });
}

async function callTool({ id, params }: Request, service: McpService): Promise<JsonObject> {
  const name = stringAt(params, 'name') ?? '';
  const tool = await service.toolNamed(name);
  if (tool === undefined) {
    return rpcError(id, RPC_ERRORS.invalidParams, `there is no tool ${quoted(name)}`);
  }
  if (params.arguments !== undefined && !isJsonObject(params.arguments)) {
    return rpcError(id, RPC_ERRORS.invalidParams, 'arguments must be an object');
  }
  const given = objectAt(params, 'arguments') ?? {};
  return rpcResult(id, resultOf(await service.call(prepared(tool, progressOf(params, service)), given)));
}

/**
 * The tool with a check of its arguments, and with what it tells of its progress. The check is made inside the
 * generation of the call, so that it is recorded.
 */
function prepared(tool: OfferedTool, onProgress: ToolRun['onProgress']): OfferedTool {
  const { inputSchema } = tool;
  return {
    ...tool,
    run: async (given, run) => {
      const fault = schemaFault(given, inputSchema, MAX_SCHEMA_STEPS);
      return fault === undefined ? tool.run(given, { ...run, onProgress }) : misfit(fault);
    },
  };
}

/** Sends the client the progress of its call; undefined = it asks for none. */
function progressOf(params: JsonObject, service: McpService): ToolRun['onProgress'] {
  const progressToken = objectAt(params, '_meta')?.progressToken;
  const isToken = typeof progressToken === 'string' || typeof progressToken === 'number';
  if (!isToken || service.notify === undefined) return undefined;
  return (progress) =>
    service.notify?.(rpcNotification('notifications/progress', { progressToken, ...progress }));
}

function misfit(fault: Issue): ToolResult {
  return { blocks: [textBlock(misfitText(fault))], isError: true, isRun: false };
}

function resultOf({ blocks, structured, isError }: ToolResult): JsonObject {
  const content = blocks.map((block) => ({ ...block }));
  return { content, ...(structured !== undefined && { structuredContent: structured }), isError };
}
