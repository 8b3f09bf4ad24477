import type { Item, MessageItem, Part, ToolCallItem, ToolResultItem } from '../../ir/items.ts';
import { mcpFunctionName } from '../../ir/mcp-function-name.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import { type ExactNumbers, stringifyExactly } from '../../kit/json/exact-numbers.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import {
  compact,
  membersBeyond,
  objectAt,
  objectsAt,
  stringAt,
  stringsAt,
  textAt,
  withoutNulls,
} from '../../kit/json/members.ts';
import type { CarriedItem } from '../dialect.ts';
import type { Report } from '../shared/report/report.ts';
import { NO_ARGUMENTS } from '../shared/tools/tool-names.ts';
import { RESULT_NOT_KEPT } from '../shared/tools/unknown-result.ts';
import { inputPlace, parseContent, parsePart, sealOfCall } from './parse-content.ts';
import { isOperatorItem, KEPT_CALL } from './wire-content.ts';

/** Parses items that show calls of other kinds than functions, as calls and results. */

// --- Calls of the gateway's own tools -------------------------------------------------------------------------------

export const MCP_CALL = 'mcp_call';

const PATCH_OUTCOME = 'apply_patch_call_output';
/** End of the types of operators' patch tools. */
const PATCH_TOOL = ':apply_patch';

/** Calls of the operator's patch tool whose results the caller has sent: it applied the patch itself. */
export function patchedCalls(input: readonly JsonObject[]): ReadonlySet<string> {
  const own = input.filter(({ type }) => typeof type === 'string' && type.endsWith(PATCH_TOOL));
  const ids = new Set(own.flatMap((item) => stringAt(item, 'call_id') ?? []));
  const outcomes = ids.size === 0 ? [] : input.filter(({ type }) => type === PATCH_OUTCOME);
  return new Set(
    outcomes.flatMap((item) => stringAt(item, 'call_id') ?? []).filter((callId) => ids.has(callId)),
  );
}

const SERVER_CALL_FIELDS = new Set(['type', 'id', 'status', 'call_id', 'arguments']);

/**
 * An operator's item as the call and the result that its model saw; undefined if it does not say what came of the
 * call. The members of the item are the result. `patched`: calls whose results are items of the caller.
 */
export function replayedCall(
  value: JsonObject,
  patched: ReadonlySet<string>,
  numbers?: ExactNumbers,
): readonly (ToolCallItem | ToolResultItem)[] | undefined {
  const type = stringAt(value, 'type') ?? '';
  if (type === MCP_CALL) return replayedMcpCall(value);
  const kept = keptCallOf(value);
  if (kept !== undefined) return patched.has(kept[0].callId) ? [kept[0]] : kept;
  const callId = stringAt(value, 'call_id') ?? stringAt(value, 'id');
  if (type === PATCH_OUTCOME && callId !== undefined && patched.has(callId)) {
    return [patchOutcome(value, callId)];
  }
  if (!isOperatorItem(type)) return undefined;
  const result = membersBeyond(value, SERVER_CALL_FIELDS);
  if (callId === undefined || result === undefined) return undefined;
  const name = type.slice(type.indexOf(':') + 1);
  const input = stringAt(value, 'arguments') ?? '{}';
  const call = { type: 'tool-call', kind: 'function', callId, name, input } as const;
  if (patched.has(callId)) return [call];
  return [
    call,
    {
      type: 'tool-result',
      kind: 'function',
      callId,
      content: [{ type: 'text', text: stringifyExactly(resultForModel(name, result), numbers) }],
      ...(value.status === 'failed' && { isError: true }),
    },
  ];
}

/** What the model got of a call of a server tool, if the gateway has kept it. */
function keptCallOf(value: JsonObject): readonly [ToolCallItem, ToolResultItem] | undefined {
  const kept = objectAt(value, KEPT_CALL);
  const { call_id: callId, name, arguments: input, output } = kept ?? {};
  if (typeof callId !== 'string' || typeof name !== 'string') return undefined;
  if (typeof input !== 'string' || typeof output !== 'string') return undefined;
  return callAndResult({ callId, name, input }, output);
}

function callAndResult(
  call: Pick<ToolCallItem, 'callId' | 'name' | 'input'>,
  text: string,
): readonly [ToolCallItem, ToolResultItem] {
  const { callId } = call;
  return [
    { type: 'tool-call', kind: 'function', ...call },
    { type: 'tool-result', kind: 'function', callId, content: [{ type: 'text', text }] },
  ];
}

/** Members of results that are no text for a model, by the name of the tool: the bytes of an image. */
const BYTES: Readonly<Record<string, ReadonlySet<string>>> = { image_generation: new Set(['result']) };

function resultForModel(name: string, result: JsonObject): JsonObject {
  const bytes = lookUp(BYTES, name);
  return bytes === undefined || 'imageUrl' in result ? result : (membersBeyond(result, bytes) ?? {});
}

/** A call of a tool of an MCP server, under the name by which the gateway offers it; undefined = it has no result. */
function replayedMcpCall(value: JsonObject): readonly [ToolCallItem, ToolResultItem] | undefined {
  const error = stringAt(value, 'error');
  return mcpCall(value, stringAt(value, 'output') ?? error, error !== undefined);
}

function mcpCall(
  value: JsonObject,
  text: string | undefined,
  isError: boolean,
): readonly [ToolCallItem, ToolResultItem] | undefined {
  // The id by which its approval refers to it, if it had one.
  const callId = stringAt(value, 'approval_request_id') ?? stringAt(value, 'id');
  if (text === undefined || callId === undefined) return undefined;
  const name = nameOfMcpTool(value);
  return [
    { type: 'tool-call', kind: 'function', callId, name, input: stringAt(value, 'arguments') ?? '{}' },
    {
      type: 'tool-result',
      kind: 'function',
      callId,
      content: [{ type: 'text', text }],
      ...(isError && { isError: true }),
    },
  ];
}

/** Reports calls of MCP tools: upstreams of every dialect get them as calls of functions, with their results. */
export function reportMcpCalls(body: JsonObject, input: readonly JsonObject[], report: Report): void {
  input.forEach((item, index) => {
    if (item.type !== MCP_CALL || replayedMcpCall(item) === undefined) return;
    report.coerced(inputPlace(body, index), 'became a call of a function and its result');
  });
}

function nameOfMcpTool(value: JsonObject): string {
  return mcpFunctionName(stringAt(value, 'server_label') ?? '', stringAt(value, 'name') ?? '');
}

function patchOutcome(value: JsonObject, callId: string): ToolResultItem {
  const { status = 'completed', output = '' } = withoutNulls(value);
  const text = JSON.stringify({ status, output });
  return { type: 'tool-result', kind: 'function', callId, content: [{ type: 'text', text }] };
}

// --- Items that other dialects do not have --------------------------------------------------------------------------

const AS_CALL = 'became a call and what the item shows of its result';
const AS_TEXT = 'became text of the user, with author and recipient';
const AS_APPROVAL = 'became text that says what was asked or answered';

/**
 * How items of a conversation are carried to dialects that do not have them: as calls and results, or as text.
 * Undefined = the item shows nothing that a model could read.
 */
export function carriedItems(items: readonly Item[]): (value: JsonObject) => CarriedItem | undefined {
  let shells: ReadonlyMap<string, string> | undefined;
  const callIdOf = (id: string) => {
    shells ??= shellCallIds(items);
    return shells.get(id) ?? id;
  };
  return (value) => {
    const type = stringAt(value, 'type') ?? '';
    const said = lookUp(MESSAGE_READERS, type);
    if (said !== undefined) return said(value);
    if (type === 'local_shell_call_output') {
      const callId = textAt(value, 'call_id') ?? callIdOf(stringAt(value, 'id') ?? '');
      return { items: [resultOf(callId, parseContent(value.output))], detail: AS_CALL };
    }
    const step = lookUp(STEP_READERS, type)?.(value) ?? shownCall(type, value);
    return step === undefined ? undefined : { items: step, detail: AS_CALL };
  };
}

/** Ids of calls by the ids of their items: outputs of local shells name either. */
function shellCallIds(items: readonly Item[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  for (const item of items) {
    if (item.type !== 'opaque' || item.value.type !== 'local_shell_call') continue;
    const id = stringAt(item.value, 'id');
    const callId = stringAt(item.value, 'call_id');
    if (id !== undefined && callId !== undefined) ids.set(id, callId);
  }
  return ids;
}

/** Items that become text. */
const MESSAGE_READERS: Readonly<Record<string, (value: JsonObject) => CarriedItem | undefined>> = {
  agent_message: agentMessage,
  mcp_approval_request: (value) => {
    const called = `${nameOfMcpTool(value)} with ${stringAt(value, 'arguments') ?? NO_ARGUMENTS}`;
    return said('assistant', `[The user is asked to approve a call of ${called}]`);
  },
  mcp_approval_response: (value) => {
    const reason = textAt(value, 'reason');
    const answer = value.approve === true ? 'approved' : 'did not approve';
    return said('user', `[The user ${answer} the call${reason === undefined ? '' : `: ${reason}`}]`);
  },
};

function said(role: 'user' | 'assistant', text: string): CarriedItem {
  return { items: [{ type: 'message', role, content: [{ type: 'text', text }] }], detail: AS_APPROVAL };
}

type Step = readonly (ToolCallItem | ToolResultItem)[];

/** Items that are a call alone, or a result alone. */
const STEP_READERS: Readonly<Record<string, (value: JsonObject) => Step>> = {
  apply_patch_call: (value) =>
    callOf(value, 'apply_patch', { operation: objectAt(value, 'operation') ?? {} }),
  apply_patch_call_output: (value) => [patchOutcome(value, stringAt(value, 'call_id') ?? '')],
  shell_call: (value) => callOf(value, 'shell', withoutNulls(objectAt(value, 'action') ?? {})),
  shell_call_output: (value) => textResult(value, JSON.stringify(value.output ?? [])),
  local_shell_call: (value) => {
    const { type: _type, ...action } = withoutNulls(objectAt(value, 'action') ?? {});
    return callOf(value, 'local_shell', action);
  },
  computer_call: (value) =>
    callOf(value, 'computer', compact({ action: value.action, actions: value.actions }) as JsonObject),
  computer_call_output: (value) => {
    const shown = objectAt(value, 'output') ?? {};
    return [resultOf(stringAt(value, 'call_id') ?? '', [parsePart({ ...shown, type: 'input_image' })])];
  },
  program: (value) => callOf(value, 'program', { code: stringAt(value, 'code') ?? '' }),
  program_output: (value) => textResult(value, stringAt(value, 'result') ?? ''),
  mcp_call: (value) => {
    const error = objectAt(value, 'error');
    const text = error && (textAt(error, 'message') ?? JSON.stringify(error));
    return mcpCall(value, text ?? RESULT_NOT_KEPT, error !== undefined) ?? [];
  },
  tool_search_call: (value) => callOf(value, TOOL_SEARCH, objectAt(value, 'arguments') ?? {}, TOOL_SEARCH),
  tool_search_output: (value) =>
    textResult(value, JSON.stringify({ tools: objectsAt(value, 'tools').map(shownTool) }), TOOL_SEARCH),
};

/** What a model may read of a found tool: servers have credentials and addresses. */
function shownTool(tool: JsonObject): JsonObject {
  const { type, name, server_label, description, parameters } = tool;
  return compact({ type, name, server_label, description, parameters }) as JsonObject;
}

/** The name of searches among tools, and the id of those that an upstream ran, which have none. */
const TOOL_SEARCH = 'tool_search';

function callOf(value: JsonObject, name: string, input: Json, otherId = ''): Step {
  const callId = textAt(value, 'call_id') ?? otherId;
  const seal = sealOfCall(textAt(value, 'signature'));
  return [{ type: 'tool-call', kind: 'function', callId, name, input: JSON.stringify(input), ...seal }];
}

function textResult(value: JsonObject, text: string, otherId = ''): Step {
  return [resultOf(textAt(value, 'call_id') ?? otherId, [{ type: 'text', text }])];
}

function resultOf(callId: string, content: readonly Part[]): ToolResultItem {
  return { type: 'tool-result', kind: 'function', callId, content };
}

/** A call of a tool that an upstream ran, with what the item shows of its result. */
function shownCall(type: string, value: JsonObject): Step | undefined {
  const shown = lookUp(CALL_READERS, type)?.(value);
  if (shown === undefined) return undefined;
  const { name, output } = shown;
  const callId = stringAt(value, 'id') ?? name;
  return callAndResult({ callId, name, input: JSON.stringify(shown.arguments) }, JSON.stringify(output));
}

/** What one agent wrote to another. Undefined = all of it is encrypted. */
function agentMessage(value: JsonObject): CarriedItem | undefined {
  const readable = objectsAt(value, 'content').filter(({ type }) => type !== 'encrypted_content');
  if (readable.length === 0) return undefined;
  const [author, recipient] = [stringAt(value, 'author') ?? '', stringAt(value, 'recipient') ?? ''];
  const label: Part = { type: 'text', text: `[Message from ${author} to ${recipient}]` };
  const message: MessageItem = {
    type: 'message',
    role: 'user',
    content: [label, ...readable.map(parsePart)],
  };
  return { items: [message], detail: AS_TEXT };
}

/** What items of hosted tools show of their calls. */
const CALL_READERS: Readonly<Record<string, (value: JsonObject) => ShownCall>> = {
  web_search_call: shownSearch,
  code_interpreter_call: shownProgram,
  file_search_call: shownFileSearch,
  x_search_call: shownSearchOfX,
  mcp_list_tools: shownList,
};

interface ShownCall {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly output: JsonObject;
}

function shownSearch(value: JsonObject): ShownCall {
  const { query = '', sources, ...page } = withoutNulls(objectAt(value, 'action') ?? {});
  const { type: _, queries: __, ...asked } = page;
  const results = objectsAt(value, 'results');
  const output = results.length > 0 ? { results } : compact({ sources, note: RESULT_NOT_KEPT });
  return { name: 'web_search', arguments: query === '' ? asked : { query }, output };
}

function shownProgram(value: JsonObject): ShownCall {
  const outputs = objectsAt(value, 'outputs');
  return {
    name: 'code_interpreter',
    arguments: { code: stringAt(value, 'code') ?? '' },
    output: outputs.length > 0 ? { outputs } : { note: RESULT_NOT_KEPT },
  };
}

function shownFileSearch(value: JsonObject): ShownCall {
  const results = objectsAt(value, 'results');
  return {
    name: 'file_search',
    arguments: { queries: [...(stringsAt(value, 'queries') ?? [])] },
    output: results.length > 0 ? { results } : { note: RESULT_NOT_KEPT },
  };
}

/** A search of posts: what was asked stands in `action`, in `arguments` or in `input`. */
function shownSearchOfX(value: JsonObject): ShownCall {
  const { type: _, ...action } = withoutNulls(objectAt(value, 'action') ?? {});
  const written = textAt(value, 'arguments') ?? textAt(value, 'input');
  const asked = written === undefined ? {} : { input: written };
  const { results, output } = value;
  const shown = compact({ results, output }) as JsonObject;
  return {
    name: 'x_search',
    arguments: { ...asked, ...action },
    output: Object.keys(withoutNulls(shown)).length > 0 ? withoutNulls(shown) : { note: RESULT_NOT_KEPT },
  };
}

/** The tools that a server listed, or why it did not. */
function shownList(value: JsonObject): ShownCall {
  const tools = objectsAt(value, 'tools').map(
    ({ name, description }) => compact({ name, description }) as JsonObject,
  );
  const { error } = value;
  return {
    name: 'mcp_list_tools',
    arguments: { server_label: stringAt(value, 'server_label') ?? '' },
    output: error === undefined || error === null ? { tools } : { error },
  };
}
