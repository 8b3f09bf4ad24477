import Type from 'typebox';
import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import { mcpMessageSchema, mcpReplySchema } from '../../contract/generations/mcp.ts';
import { type EncodeError, encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { directCallBody, TOOL_LIST_BODY } from '../../gateway/generation/tool-generation.ts';
import { GatewayError } from '../../ir/errors.ts';
import { SSE_TYPE, writeSseFrame } from '../../kit/frames/sse.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { PROTOCOL_VERSIONS, RPC_ERRORS, type RpcId, rpcError, VERSION_HEADER } from '../../mcp/protocol.ts';
import { answerMessage, type McpService } from '../../mcp/server/answer-message.ts';
import type { OfferedTool, ToolResult } from '../../mcp/server/offered-tool.ts';
import { mayCall } from '../access/cors.ts';
import { GenerationRun } from '../generation/generate.ts';
import { MAX_SESSION_ID, SESSION_HEADER } from '../generation/generation-headers.ts';
import { NoObjectBody, UnreadableBody } from '../request/read-body.ts';
import { type Call as AnyCall, type Route, route } from '../route.ts';
import { errors, ok } from './row-parts.ts';

type Call = AnyCall<'generations.run'>;

const NO_BATCHES = 'Batches are not supported: send each message in a request of its own';

/** A body that is no message gets an error of JSON-RPC; what is refused before it is read, that of every route. */
const encodeRpcError: EncodeError = (error, context) => {
  if (error.kind !== 'invalid-request') return encodeEnvelope(error, context);
  if (error instanceof NoObjectBody && error.isList) {
    return rpcError(null, RPC_ERRORS.invalidRequest, NO_BATCHES);
  }
  const code = error instanceof UnreadableBody ? RPC_ERRORS.parse : RPC_ERRORS.invalidRequest;
  return rpcError(null, code, error.message);
};

/** The gateway as an MCP server, without sessions: each message gets one reply. */
export const MCP_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    mount: 'api',
    path: '/mcp',
    operationId: 'sendMcpMessage',
    summary: 'Send a message of the Model Context Protocol: list tools, call one',
    permission: 'generations.run',
    tag: 'MCP',
    rateClass: 'generation',
    request: {
      query: null,
      headers: Type.Object({
        accept: Type.Optional(
          Type.String({
            description: `With \`${SSE_TYPE}\`, the reply may be a stream that begins with the progress of a call.`,
          }),
        ),
        [VERSION_HEADER]: Type.Optional(
          Type.String({ description: 'Version of the protocol, after `initialize`.' }),
        ),
        [SESSION_HEADER]: Type.Optional(
          Type.String({
            maxLength: MAX_SESSION_ID,
            description:
              'Calls with the same session share the files of the sandbox; it is in their records.',
          }),
        ),
      }),
      body: mcpMessageSchema,
    },
    responses: {
      200: {
        description: 'The reply; behind notifications of progress if it is a stream.',
        content: { 'application/json': mcpReplySchema, [SSE_TYPE]: Type.String() },
      },
      202: { description: 'A notification was taken.', content: {} },
      400: { ...ok(mcpReplySchema), description: 'The body is no message of the protocol.' },
      ...errors(errorEnvelopeSchema, [401, 403, 408, 413, 415, 429, 500, 503]),
    },
    encodeError: encodeRpcError,
    handler: async (call) => {
      requireOwnOrigin(call);
      const { reply } = call.exchange;
      const refusal = unknownVersion(call);
      if (refusal !== undefined) return reply.json(400, refusal);
      const answer = await answered(call);
      if (answer === undefined) reply.jsonText(202, '');
      else if (reply.begun) reply.end(frameOf(answer));
      else reply.json(200, answer);
    },
  }),
];

/** A page that reached the gateway by DNS rebinding must not call tools, as the protocol demands. */
function requireOwnOrigin({ exchange: { request }, settings: { cors } }: Call): void {
  if (mayCall(request, cors)) return;
  const message = 'Pages of this origin may not call tools: add it to server.cors.origins';
  throw new GatewayError('permission', message);
}

/** The reply to a message of a version that the gateway does not speak, with those that it does. */
function unknownVersion({ headers, body }: Call): JsonObject | undefined {
  const requested = headers[VERSION_HEADER];
  if (requested === undefined || PROTOCOL_VERSIONS.includes(requested)) return undefined;
  const supported = [...PROTOCOL_VERSIONS];
  const message = `Unsupported protocol version: the gateway speaks ${supported.join(', ')}`;
  return rpcError(idOf(body), RPC_ERRORS.unsupportedVersion, message, { supported, requested });
}

/** The id of a message, which a reply to it repeats; null if it has none. */
function idOf({ id }: JsonObject): RpcId | null {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Error code of JSON-RPC for calls that the gateway refuses. */
const REFUSED = -32_000;

async function answered(call: Call): Promise<JsonObject | undefined> {
  const { exchange, services, body } = call;
  const caller = call.caller;
  let sent = 0;
  const service: McpService = {
    serverInfo: services.mcp.serverInfo,
    tools: () => listTools(call),
    toolNamed: (name) => services.mcp.named(name, caller, exchange.signal),
    call: (tool, given) => runTool(call, tool, given),
    ...(takesStream(call) && {
      notify: (message) => {
        if (++sent <= MAX_NOTIFICATIONS) sendAhead(call, message);
      },
    }),
  };
  try {
    return await answerMessage(body, service);
  } catch (error) {
    // The message was understood: clients expect the reason in a reply to it.
    const isLate = exchange.signal.aborted && !exchange.reply.begun;
    if (!(error instanceof GatewayError) || error.kind === 'server' || isLate) throw error;
    return rpcError(idOf(body), REFUSED, error.message, { code: error.status });
  }
}

/** Notifications before one reply. */
const MAX_NOTIFICATIONS = 1000;

function takesStream({ headers }: Call): boolean {
  return headers.accept?.includes(SSE_TYPE) === true;
}

/** Sends a message before the reply, which becomes a stream by it. It is left out while the reader is behind. */
function sendAhead({ exchange: { reply, signal } }: Call, message: JsonObject): void {
  if (signal.aborted || reply.ended) return;
  if (!reply.begun) reply.beginStream();
  reply.writeNow(frameOf(message));
}

function frameOf(message: JsonObject): string {
  return writeSseFrame(JSON.stringify(message), 'message');
}

/** The tools of the caller, as guardrails let them pass. */
async function listTools(call: Call): Promise<readonly OfferedTool[]> {
  const { exchange, services } = call;
  const tools = await services.mcp.of(call.caller, exchange.signal);
  const run = new GenerationRun({ ...call, body: TOOL_LIST_BODY }, 'responses');
  try {
    return await run.withAbortGrace(services.gateway.passedTools(run.input, tools));
  } finally {
    run.end();
  }
}

async function runTool(call: Call, tool: OfferedTool, given: JsonObject): Promise<ToolResult> {
  const { name, costsNothing } = tool;
  const run = new GenerationRun({ ...call, body: directCallBody(name, given) }, 'responses');
  const direct = { name, arguments: given, costsNothing, run: tool.run };
  try {
    return await run.withAbortGrace(call.services.gateway.callTool(run.input, direct));
  } finally {
    run.end();
  }
}
