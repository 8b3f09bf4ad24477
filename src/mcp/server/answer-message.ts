import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringAt } from '../../kit/json/members.ts';
import { StepBudget } from '../../kit/json-schema/budget.ts';
import { fitsSchema } from '../../kit/json-schema/schema-check.ts';
import { quoted } from '../../kit/text/quoted.ts';
import {
  PROTOCOL_VERSIONS,
  RPC_ERRORS,
  type RpcMessage,
  readMessage,
  rpcError,
  rpcResult,
} from '../protocol.ts';
import type { OfferedTool, ToolText } from './offered-tool.ts';

/** What the gateway does for an MCP client. */
export interface McpService {
  /** Name and version by which the gateway introduces itself. */
  readonly serverInfo: { readonly name: string; readonly version: string };
  /** The tools of the caller. */
  tools(): Promise<readonly OfferedTool[]>;
  /** Runs a tool as a generation of its own. Rejects with a GatewayError. */
  call(tool: OfferedTool, given: JsonObject): Promise<ToolText>;
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
  const tools = (await service.tools()).map(({ name, description, inputSchema, annotations }) => ({
    name,
    description,
    inputSchema,
    ...(annotations !== undefined && { annotations }),
  }));
  return rpcResult(id, { tools });
}

async function callTool({ id, params }: Request, service: McpService): Promise<JsonObject> {
  const name = stringAt(params, 'name') ?? '';
  const tool = (await service.tools()).find((offered) => offered.name === name);
  if (tool === undefined) {
    return rpcError(id, RPC_ERRORS.invalidParams, `there is no tool ${quoted(name)}`);
  }
  if (params.arguments !== undefined && !isJsonObject(params.arguments)) {
    return rpcError(id, RPC_ERRORS.invalidParams, 'arguments must be an object');
  }
  const given = objectAt(params, 'arguments') ?? {};
  const { inputSchema } = tool;
  if (!fitsSchema(given, inputSchema, inputSchema, new StepBudget(MAX_SCHEMA_STEPS))) {
    return rpcResult(
      id,
      resultOf({ text: 'the arguments do not fit the schema of the tool', isError: true }),
    );
  }
  return rpcResult(id, resultOf(await service.call(tool, given)));
}

function resultOf({ text, isError }: ToolText): JsonObject {
  return { content: [{ type: 'text', text }], isError };
}
