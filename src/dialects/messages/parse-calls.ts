import type { Item, Role, ToolCallItem, ToolResultItem } from '../../ir/items.ts';
import { mcpFunctionName } from '../../ir/mcp-function-name.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import { type ExactNumbers, stringifyExactly } from '../../kit/json/exact-numbers.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import {
  compact,
  membersBeyond,
  objectAt,
  objectOf,
  objectsAt,
  stringAt,
  textAt,
} from '../../kit/json/members.ts';
import type { CarriedItem, ItemReader } from '../dialect.ts';
import { textIn } from '../shared/blocks/text-of-foreign-part.ts';
import { RESULT_NOT_KEPT } from '../shared/tools/unknown-result.ts';
import {
  CALL_FIELDS,
  fetchedPage,
  marks,
  RESULT_FIELDS,
  textOfMcpResult,
  upstreamResult,
} from './parse-content.ts';
import { isKnownBlock } from './wire-content.ts';

/** Parses blocks of tools that upstreams run as calls and results, for dialects that do not have them. */

/**
 * Reads blocks as other dialects have them: as calls, results, or text of their speakers. `numbers`: long numbers of
 * the body, whose digits are kept.
 */
export function carriedItems(_items: readonly Item[], numbers?: ExactNumbers): ItemReader {
  return (value, role = 'user') => {
    const type = stringAt(value, 'type') ?? '';
    const carried = lookUp(CALL_READERS, type)?.(value, numbers) ?? shownResult(type, value, numbers);
    return carried ?? saidBlock(type, value, role);
  };
}

/** Undefined = the block shows nothing that a model could read. */
function saidBlock(type: string, value: JsonObject, role: Role): CarriedItem | undefined {
  const text = type === 'compaction' ? textAt(value, 'content') : isKnownBlock(type) ? '' : textIn(value);
  if (text === undefined || text === '') return undefined;
  const message: Item = { type: 'message', role, content: [{ type: 'text', text }] };
  return { items: [message], detail: `${type} sent as plain text` };
}

// --- Calls ----------------------------------------------------------------------------------------------------------

const MCP_CALL_FIELDS: ReadonlySet<string> = new Set([...CALL_FIELDS, 'server_name']);

type CallReader = (value: JsonObject, numbers: ExactNumbers | undefined) => CarriedItem;

const CALL_READERS: Readonly<Record<string, CallReader>> = {
  server_tool_use: (value, numbers) => called(value, stringAt(value, 'name') ?? '', CALL_FIELDS, numbers),
  mcp_tool_use: (value, numbers) => {
    const name = mcpFunctionName(stringAt(value, 'server_name') ?? '', stringAt(value, 'name') ?? '');
    return called(value, name, MCP_CALL_FIELDS, numbers);
  },
  mcp_tool_listing: (value) => {
    const name = 'mcp_list_tools';
    const server = { server_label: stringAt(value, 'mcp_server_name') ?? '' };
    const tools = objectsAt(value, 'tools').map(({ name, description }) => compact({ name, description }));
    return {
      items: [callItem(name, name, JSON.stringify(server)), resultItem(name, JSON.stringify({ tools }))],
      detail: 'became a call and its result',
    };
  },
};

function called(
  value: JsonObject,
  name: string,
  modelled: ReadonlySet<string>,
  numbers: ExactNumbers | undefined,
): CarriedItem {
  const input = stringifyExactly(objectAt(value, 'input') ?? {}, numbers);
  const call = callItem(stringAt(value, 'id') ?? '', name, input);
  return { items: [{ ...call, ...marks(value, modelled) }], detail: 'became a call' };
}

function callItem(callId: string, name: string, input: string): ToolCallItem {
  return { type: 'tool-call', kind: 'function', callId, name, input };
}

// --- Results --------------------------------------------------------------------------------------------------------

/** What blocks show of results, by their type: JSON, or text. Texts of searches and some results are encrypted. */
const RESULT_READERS: Readonly<Record<string, (value: JsonObject) => JsonObject | string>> = {
  web_search_tool_result: ({ content }) => failureIn(content) ?? upstreamResult(content),
  web_fetch_tool_result: shownPage,
  code_execution_tool_result: shownRun,
  bash_code_execution_tool_result: shownRun,
  text_editor_code_execution_tool_result: shownRun,
  tool_search_tool_result: ({ content }) => {
    const found = objectsAt(objectOf(content), 'tool_references');
    return failureIn(content) ?? { tools: found.map((tool) => stringAt(tool, 'tool_name') ?? '') };
  },
  advisor_tool_result: ({ content }) => {
    const advice = textAt(objectOf(content), 'text');
    return failureIn(content) ?? (advice === undefined ? NOT_KEPT : { status: 'ok', advice });
  },
  mcp_tool_result: textOfMcpResult,
};

function shownResult(
  type: string,
  value: JsonObject,
  numbers: ExactNumbers | undefined,
): CarriedItem | undefined {
  const shown = lookUp(RESULT_READERS, type)?.(value);
  if (shown === undefined) return undefined;
  const text = typeof shown === 'string' ? shown : stringifyExactly(shown, numbers);
  const isError = value.is_error === true && { isError: true };
  const result = resultItem(stringAt(value, 'tool_use_id') ?? '', text);
  return {
    items: [{ ...result, ...isError, ...marks(value, RESULT_FIELDS) }],
    detail: 'became what the block shows of a result',
  };
}

function resultItem(callId: string, text: string): ToolResultItem {
  return { type: 'tool-result', kind: 'function', callId, content: [{ type: 'text', text }] };
}

const NOT_KEPT = { note: RESULT_NOT_KEPT };

/** Why a call failed; undefined = it did not. */
function failureIn(content: Json | undefined): JsonObject | undefined {
  const { error_code: error, error_message: message } = objectOf(content);
  return error === undefined ? undefined : compact({ status: 'error', error, message });
}

/** A page. Of one that is no text, such as a PDF file, the address is all that a result can say. */
function shownPage({ content }: JsonObject): JsonObject {
  const page = objectOf(content);
  const document = objectAt(page, 'content') ?? {};
  if (stringAt(objectAt(document, 'source'), 'type') === 'text') return fetchedPage(page);
  const { content: _, ...about } = fetchedPage(page);
  const text = textIn(document);
  return failureIn(page) ?? { ...about, ...(text === '' ? NOT_KEPT : { content: text }) };
}

const UNREADABLE: ReadonlySet<string> = new Set(['type', 'encrypted_stdout']);

/** A program or command, or work on a file. */
function shownRun({ content }: JsonObject): JsonObject {
  const run = objectOf(content);
  const shown = membersBeyond(run, UNREADABLE) ?? {};
  return failureIn(run) ?? (run.encrypted_stdout === undefined ? shown : { ...shown, ...NOT_KEPT });
}
