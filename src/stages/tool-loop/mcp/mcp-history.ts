import type { Item } from '../../../ir/items.ts';
import { mcpFunctionName } from '../../../ir/mcp-function-name.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { stringAt } from '../../../kit/json/members.ts';

/** A call that an earlier answer asked approval for, and what became of that. */
export interface Approval {
  /** Id of the `mcp_approval_request`, which is that of the call. */
  readonly requestId: string;
  readonly label: string;
  readonly tool: string;
  /** JSON text. */
  readonly input: string;
}

export interface McpHistory {
  /** The conversation as models get it: calls with results in the place of approvals, and no lists of tools. */
  readonly items: readonly Item[];
  /** Labels of servers whose tools the caller has been shown. */
  readonly listed: ReadonlySet<string>;
  /** Calls that the caller has approved and that have not run. */
  readonly approved: readonly Approval[];
  /** Responses to requests for approval that the conversation does not have. */
  readonly unasked: readonly Item[];
}

/** Stands in for the result of a call that has not run yet. */
const PENDING = 'The call has not run yet.';

const NOT_APPROVED = 'The user did not approve the call.';

/**
 * Reads the items of MCP servers in a conversation. Approved calls get a result that is replaced once they have run,
 * so that every call has one.
 */
export function readMcpHistory(items: readonly Item[]): McpHistory {
  const values = items.map(mcpValueOf);
  if (values.every((value) => value === undefined))
    return { items, listed: new Set(), approved: [], unasked: [] };
  const responses = new Map<string, JsonObject>();
  for (const value of values) {
    if (value?.type === 'mcp_approval_response') {
      responses.set(stringAt(value, 'approval_request_id') ?? '', value);
    }
  }
  const asked = new Set(
    values.flatMap((value) => (value?.type === 'mcp_approval_request' ? [approvalOf(value).requestId] : [])),
  );
  const unasked = items.filter((_, index) => {
    const value = values[index];
    return (
      value?.type === 'mcp_approval_response' && !asked.has(stringAt(value, 'approval_request_id') ?? '')
    );
  });
  const ran = new Set(items.flatMap((item) => (item.type === 'tool-call' ? [item.callId] : [])));
  const listed = new Set<string>();
  const approved: Approval[] = [];
  const kept = items.flatMap((item, index): readonly Item[] => {
    const value = values[index];
    switch (value?.type) {
      case undefined:
        return [item];
      case 'mcp_list_tools':
        if ((value.error ?? null) === null) listed.add(stringAt(value, 'server_label') ?? '');
        return [];
      case 'mcp_approval_request': {
        const approval = approvalOf(value);
        if (ran.has(approval.requestId)) return [];
        const response = responses.get(approval.requestId);
        const isApproved = response?.approve === true;
        if (isApproved) approved.push(approval);
        return callAndResult(approval, isApproved ? PENDING : refusalOf(response));
      }
      default:
        return [];
    }
  });
  return { items: kept, listed, approved, unasked };
}

/** The item with a result in the place of the one that an approved call had before it ran. */
export function withResult(item: Item, results: ReadonlyMap<string, string>): Item {
  if (item.type !== 'tool-result') return item;
  const text = results.get(item.callId);
  return text === undefined ? item : { ...item, content: [{ type: 'text', text }] };
}

const MCP_TYPES: ReadonlySet<string> = new Set([
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
]);

function mcpValueOf(item: Item): JsonObject | undefined {
  if (item.type !== 'opaque') return undefined;
  return MCP_TYPES.has(stringAt(item.value, 'type') ?? '') ? item.value : undefined;
}

function approvalOf(value: JsonObject): Approval {
  return {
    requestId: stringAt(value, 'id') ?? '',
    label: stringAt(value, 'server_label') ?? '',
    tool: stringAt(value, 'name') ?? '',
    input: stringAt(value, 'arguments') ?? '{}',
  };
}

function refusalOf(response: JsonObject | undefined): string {
  const reason = stringAt(response, 'reason') ?? '';
  return reason === '' ? NOT_APPROVED : `${NOT_APPROVED} Reason: ${reason}`;
}

function callAndResult({ requestId, label, tool, input }: Approval, text: string): Item[] {
  const name = mcpFunctionName(label, tool);
  return [
    { type: 'tool-call', kind: 'function', callId: requestId, name, input },
    { type: 'tool-result', kind: 'function', callId: requestId, content: [{ type: 'text', text }] },
  ];
}
