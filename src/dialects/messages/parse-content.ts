import type {
  CacheMark,
  Ext,
  Item,
  Part,
  Role,
  Source,
  ToolCallItem,
  ToolResultItem,
} from '../../ir/items.ts';
import { mcpFunctionName } from '../../ir/mcp-function-name.ts';
import type { Place, Places } from '../../ir/places.ts';
import { type ExactNumbers, stringifyExactly } from '../../kit/json/exact-numbers.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { compact, membersBeyond, objectOf, objectsOf, stringAt } from '../../kit/json/members.ts';
import { parseCacheMark } from '../shared/requests/gateway-fields.ts';

import { RESULT_NOT_KEPT } from '../shared/tools/unknown-result.ts';
import { isUpstreamCall, ownServerCallId, unwrapText } from './ids.ts';
import { imageInText } from './media.ts';
import { parseRedacted, parseThinking } from './reasoning.ts';
import type { WireBlock, WireMessage } from './wire.ts';

// --- Conversation ---------------------------------------------------------------------------------------------------

/**
 * The conversation as items, in order: the system prompt first, then every block. Notes the place of each in `places`.
 * `numbers`: long numbers of the body, whose digits are kept in the input of calls.
 */
export function parseConversation(
  system: Json | undefined,
  messages: readonly WireMessage[],
  places: Places,
  numbers?: ExactNumbers,
): Item[] {
  const items: Item[] = [];
  const prompt = parseParts(system, 'system', places);
  if (prompt.length > 0) {
    items.push(places.put<Item>({ type: 'message', role: 'system', content: prompt }, 'system'));
  }
  messages.forEach((message, index) => {
    for (const item of parseMessage(message, places.inside('messages', index), places, numbers))
      items.push(item);
  });
  return items;
}

// --- Messages -------------------------------------------------------------------------------------------------------

/** Parts of one message become one item; blocks that are items of their own split it. */
function parseMessage(
  message: WireMessage,
  place: Place,
  places: Places,
  numbers: ExactNumbers | undefined,
): Item[] {
  const { role, content = [] } = message;
  const own = role === 'system' ? marks(message as unknown as JsonObject, TURN_FIELDS) : {};
  const spoken = (parts: Part[]) =>
    places.put<Item>({ type: 'message', role, content: parts, ...own }, place);
  const inContent = places.inside(place, 'content');
  if (typeof content === 'string') return [spoken(parseParts(content, inContent, places))];
  const items: Item[] = [];
  let parts: Part[] = [];
  const flush = () => {
    if (parts.length > 0) items.push(spoken(parts));
    parts = [];
  };
  content.forEach((block, index) => {
    const inside = places.inside(inContent, index);
    const image = role === 'assistant' && block.type === 'text' ? imageInText(block.text) : undefined;
    if (image !== undefined) {
      flush();
      items.push(places.put<Item>({ type: 'image', source: image }, inside));
    } else if (PART_TYPES.has(block.type)) {
      parts.push(parsePart(block, inside, places));
    } else {
      flush();
      items.push(places.put(parseItem(block, role, inside, places, numbers), inside));
    }
  });
  flush();
  // A system turn may hold settings and no words.
  if (own.ext !== undefined && !items.some(({ type }) => type === 'message')) items.unshift(spoken([]));
  return items;
}

function parseItem(
  block: WireBlock,
  role: Role,
  place: Place,
  places: Places,
  numbers: ExactNumbers | undefined,
): Item {
  switch (block.type) {
    case 'thinking':
      return parseThinking(block);
    case 'redacted_thinking':
      return parseRedacted(block);
    case 'tool_use':
      return {
        type: 'tool-call',
        kind: 'function',
        callId: block.id as string,
        name: block.name as string,
        input: stringifyExactly(block.input ?? {}, numbers),
        ...marks(block, CALL_FIELDS),
      };
    case 'tool_result':
      return parseToolResult(block, place, places);
    default:
      return replayedStep(block, numbers) ?? { type: 'opaque', dialect: 'messages', value: block, role };
  }
}

// --- Calls and results ----------------------------------------------------------------------------------------------

function parseToolResult(block: WireBlock, place: Place, places: Places): ToolResultItem {
  return {
    type: 'tool-result',
    kind: 'function',
    callId: block.tool_use_id as string,
    content: parseParts(block.content, places.inside(place, 'content'), places),
    ...(typeof block.is_error === 'boolean' && { isError: block.is_error }),
    ...marks(block, RESULT_FIELDS),
  };
}

/** A block of the gateway's own server tools as the call or the result that its model saw; undefined = it is none. */
export function replayedStep(
  block: WireBlock,
  numbers?: ExactNumbers,
): ToolCallItem | ToolResultItem | undefined {
  const { type, id, tool_use_id: of, name, input, content } = block;
  const isUse = type === 'server_tool_use' || type === 'mcp_tool_use';
  const callId = ownServerCallId(String(isUse ? id : of));
  if (callId === undefined) return undefined;
  if (isUse) {
    const { server_name: server } = block;
    return {
      type: 'tool-call',
      kind: 'function',
      callId,
      name: typeof server === 'string' ? mcpFunctionName(server, String(name)) : String(name),
      input: stringifyExactly(input ?? {}, numbers),
    };
  }
  if (type === 'mcp_tool_result') return mcpResult(block, callId);
  return {
    type: 'tool-result',
    kind: 'function',
    callId,
    content: [{ type: 'text', text: stringifyExactly(resultForModel(content, callId), numbers) }],
  };
}

function mcpResult(block: WireBlock, callId: string): ToolResultItem {
  return {
    type: 'tool-result',
    kind: 'function',
    callId,
    content: [{ type: 'text', text: textOfMcpResult(block) }],
    ...(block.is_error === true && { isError: true }),
  };
}

export function textOfMcpResult({ content }: JsonObject): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map((part) => stringAt(part, 'text') ?? '')
    .join('');
}

function resultForModel(content: Json | undefined, callId: string): JsonObject {
  if (Array.isArray(content)) {
    if (isUpstreamCall(callId)) return upstreamResult(content);
    const results = objectsOf(content).map((result) => ({
      url: result.url ?? '',
      title: result.title ?? '',
      content: unwrapText(stringAt(result, 'encrypted_content') ?? ''),
    }));
    return { results };
  }
  const result = objectOf(content);
  const { type, text, error_code } = result;
  if (error_code !== undefined) return { status: 'error', error: error_code };
  if (type === 'advisor_result') return { status: 'ok', advice: text ?? '' };
  return fetchedPage(result);
}

export function fetchedPage({ url, retrieved_at, content }: JsonObject): JsonObject {
  const { title, source } = objectOf(content);
  return compact({
    url,
    title: title ?? undefined,
    content: objectOf(source).data ?? '',
    status: 'completed',
    retrieved_at: retrieved_at ?? undefined,
  });
}

/** The result of a search that an upstream ran: what its block shows of it. */
export function upstreamResult(content: Json | undefined): JsonObject {
  const sources = objectsOf(content).map(({ url = '', title = '' }) => ({ url, title }));
  return { ...(sources.length > 0 && { sources }), note: RESULT_NOT_KEPT };
}

// --- Content parts --------------------------------------------------------------------------------------------------

const PART_TYPES: ReadonlySet<string> = new Set(['text', 'image', 'document', 'search_result']);

function parseParts(content: Json | readonly WireBlock[] | undefined, place: Place, places: Places): Part[] {
  if (typeof content === 'string') {
    return content === '' ? [] : [places.put<Part>({ type: 'text', text: content }, place)];
  }
  if (!Array.isArray(content)) return [];
  return (content as WireBlock[]).map((block, index) =>
    parsePart(block, places.inside(place, index), places),
  );
}

function parsePart(block: WireBlock, place: Place, places: Places): Part {
  return places.put(partOf(block), place);
}

function partOf(block: WireBlock): Part {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text as string, ...marks(block, TEXT_FIELDS) };
    case 'image': {
      const source = parseSource(block.source as JsonObject);
      if (source === undefined) return { type: 'opaque', dialect: 'messages', value: block };
      return { type: 'image', source, ...marks(block, SOURCE_FIELDS) };
    }
    case 'document':
      return parseDocument(block);
    default:
      return { type: 'opaque', dialect: 'messages', value: block };
  }
}

/** A document that has blocks, or a source of another type, has no counterpart in other formats: it stays opaque. */
function parseDocument(block: WireBlock): Part {
  const source = parseSource(block.source as JsonObject);
  if (source === undefined) return { type: 'opaque', dialect: 'messages', value: block };
  return {
    type: 'file',
    source,
    ...(typeof block.title === 'string' && { filename: block.title }),
    ...marks(block, DOCUMENT_FIELDS),
  };
}

/** Undefined for a source of another type. */
function parseSource(source: JsonObject): Source | undefined {
  switch (source.type) {
    case 'base64':
      return { kind: 'base64', mediaType: source.media_type as string, data: source.data as string };
    case 'text':
      return { kind: 'text', mediaType: source.media_type as string, text: source.data as string };
    case 'file':
      return { kind: 'file-id', fileId: source.file_id as string };
    case 'url':
      return { kind: 'url', url: source.url as string };
    default:
      return undefined;
  }
}

// --- Members of any item --------------------------------------------------------------------------------------------

const TURN_FIELDS: ReadonlySet<string> = new Set(['role', 'content']);
const TEXT_FIELDS: ReadonlySet<string> = new Set(['type', 'text', 'cache_control']);
const SOURCE_FIELDS: ReadonlySet<string> = new Set(['type', 'source', 'cache_control']);
const DOCUMENT_FIELDS: ReadonlySet<string> = new Set([...SOURCE_FIELDS, 'title']);
export const CALL_FIELDS: ReadonlySet<string> = new Set(['type', 'id', 'name', 'input', 'cache_control']);
export const RESULT_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'tool_use_id',
  'content',
  'is_error',
  'cache_control',
]);

/** The cache mark of a block, and its fields besides `modelled`, kept for this dialect. */
export function marks(
  block: JsonObject,
  modelled: ReadonlySet<string>,
): { readonly cache?: CacheMark; readonly ext?: Ext } {
  const cache = isJsonObject(block.cache_control) ? parseCacheMark(block.cache_control) : undefined;
  const rest = membersBeyond(block, modelled);
  return {
    ...(cache !== undefined && { cache }),
    ...(rest !== undefined && { ext: { messages: rest } }),
  };
}
