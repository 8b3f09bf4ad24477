import type { ToolCallEnd } from '../../../ir/leg.ts';
import { mcpToolName } from '../../../ir/mcp-function-name.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import { isJsonObject, type JsonObject, readJson } from '../../../kit/json/json.ts';
import { compact } from '../../../kit/json/members.ts';
import { mapAtOnce } from '../../../kit/loop/map-at-once.ts';
import type { GrantedServers } from '../../../mcp/granted-servers.ts';
import type { ToolOutcome } from '../../../tools/server-tool.ts';
import { MCP } from '../../../tools/wanted-tools.ts';
import type { StageContext } from '../../stage.ts';
import { recordCall } from '../record-call.ts';
import { CALLS_AT_ONCE, MAX_CALLS_PER_STEP } from '../run-calls.ts';
import type { Preface, PrefaceItem } from '../tool-loop.ts';
import { type Approval, withResult } from './mcp-history.ts';
import { callOutcome, failedCall, MCP_CALL, MCP_LIST_TOOLS, membersOf } from './mcp-server-tool.ts';
import type { ListedServer, McpTools } from './mcp-tools.ts';

const TOO_MANY = `more than ${MAX_CALLS_PER_STEP} approved calls in one request; send the approval again`;

/** Runs the calls that the caller has approved, and shows the tools of servers that were listed for this answer. */
export function mcpPreface(
  { lists, servers, approved }: McpTools,
  granted: GrantedServers,
  context: StageContext,
): Preface {
  return async (request) => {
    const outcomes = await mapAtOnce(approved, CALLS_AT_ONCE, (approval, index) =>
      index < MAX_CALLS_PER_STEP
        ? recordedOutcome(approval, request, servers, granted, context)
        : Promise.resolve(failedCall(membersOf(approval.label, approval.tool), TOO_MANY)),
    );
    const results = new Map(
      approved.map(({ requestId }, index) => [requestId, outcomes[index]?.output ?? '']),
    );
    const calls = approved.map((approval, index) => callItem(approval, outcomes[index] as ToolOutcome));
    return {
      request: { ...request, items: request.items.map((item) => withResult(item, results)) },
      items: [...lists.map(listItem), ...calls],
    };
  };
}

/** Runs an approved call and adds it to the record. */
async function recordedOutcome(
  approval: Approval,
  request: GenerationRequest,
  servers: readonly ListedServer[],
  granted: GrantedServers,
  context: StageContext,
): Promise<ToolOutcome> {
  const { signal, now } = context;
  const startedAtMs = now();
  const ended = (outcome: ToolOutcome, end: ToolCallEnd) => {
    const durationMs = Math.max(0, now() - startedAtMs);
    const name = mcpToolName(approval.label, approval.tool);
    const call = { name, input: approval.input, leg: 0, startedAtMs, durationMs, isRun: true };
    return recordCall({ ...call, outcome, end }, context, request.watch);
  };
  try {
    const outcome = await approvedOutcome(approval, request, servers, granted, context);
    await ended(outcome, outcome.isFailed === true ? 'error' : 'ok');
    return outcome;
  } catch (error) {
    if (signal.aborted) await ended({ output: '', shown: {} }, 'cancelled');
    throw error;
  }
}

function approvedOutcome(
  { requestId, label, tool: name, input }: Approval,
  request: GenerationRequest,
  servers: readonly ListedServer[],
  granted: GrantedServers,
  { caller, generationId, signal, hasZeroRetention }: StageContext,
): Promise<ToolOutcome> | ToolOutcome {
  const known = membersOf(label, name);
  const listed = servers.find(({ server }) => server.label === label);
  const tool = listed?.tools.find((each) => each.name === name);
  if (listed === undefined || tool === undefined) return failedCall(known, 'the tool is not available');
  const reading = readJson(input.trim() === '' ? '{}' : input);
  if (!reading.ok || !isJsonObject(reading.value)) {
    return failedCall(known, 'the arguments are no JSON object');
  }
  const given = reading.value;
  const mayKeep = !hasZeroRetention(request, request.models);
  const { url } = listed.server;
  const approval = { requestId, keyHash: caller.key.hash, call: [url, name, input], generationId, mayKeep };
  return callOutcome(known, () =>
    granted.callApproved(approval, () => granted.callForText(listed.server, caller, tool, given, signal)),
  );
}

function callItem({ requestId, label, tool, input }: Approval, outcome: ToolOutcome): PrefaceItem {
  const known = { ...membersOf(label, tool), approval_request_id: requestId };
  return {
    head: { type: 'server-call', tool: MCP, hostedAs: MCP_CALL, callId: requestId, input, shown: known },
    outcome: { ...outcome, shown: { ...known, ...outcome.shown } },
  };
}

function listItem({ server: { label }, tools, error }: ListedServer): PrefaceItem {
  const known = { server_label: label };
  const entries = tools.map(
    ({ name, description, inputSchema, presentation }): JsonObject => ({
      name,
      description,
      input_schema: inputSchema,
      ...presentation,
    }),
  );
  return {
    head: {
      type: 'server-call',
      tool: MCP,
      hostedAs: MCP_LIST_TOOLS,
      callId: label,
      input: '{}',
      shown: { ...known, tools: [] },
    },
    outcome: {
      output: '',
      shown: compact({ ...known, tools: entries, error }),
      isFailed: error !== undefined,
    },
  };
}
