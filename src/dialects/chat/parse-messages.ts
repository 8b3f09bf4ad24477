import type {
  CacheMark,
  Ext,
  ImageItem,
  Item,
  MessageItem,
  Part,
  Role,
  ToolCallItem,
  ToolKind,
  ToolResultItem,
} from '../../ir/items.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import { membersBeyond, objectAt, objectsAt, textAt } from '../../kit/members.ts';
import { parseCacheMark } from '../gateway-fields.ts';

import { parseReasoningDetails } from './reasoning-details.ts';
import { parseFileData, parseUrl } from './source.ts';

/** The conversation of a validated request: one wire message is one or several items. */
export function parseMessages(messages: readonly JsonObject[]): Item[] {
  const calls = new CallsSoFar();
  return messages.flatMap((message, position) => {
    switch (message.role) {
      case 'assistant':
        return parseAssistant(message, position, calls);
      case 'tool':
        return [parseToolMessage(message, calls)];
      case 'function':
        return [parseFunctionMessage(message, calls)];
      default:
        return [parsePlainMessage(message)];
    }
  });
}

/** What later messages need to know of the calls before them. */
class CallsSoFar {
  readonly #kinds = new Map<string, ToolKind>();
  readonly #byName = new Map<string, string>();

  add(call: ToolCallItem): void {
    this.#kinds.set(call.callId, call.kind);
    this.#byName.set(call.name, call.callId);
  }

  kindOf(callId: string): ToolKind {
    return this.#kinds.get(callId) ?? 'function';
  }

  /** Legacy `function` messages name the function instead of the call. */
  latestNamed(name: string): string {
    return this.#byName.get(name) ?? `call_${name}`;
  }
}

// --- Messages --------------------------------------------------------------------------------------------------------

const PLAIN_FIELDS = new Set(['role', 'content']);
const ASSISTANT_FIELDS = new Set([
  'role',
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'tool_calls',
  'function_call',
  'images',
]);
const TOOL_FIELDS = new Set(['role', 'content', 'tool_call_id']);
const FUNCTION_FIELDS = new Set(['role', 'content', 'name']);

function parsePlainMessage(message: JsonObject): MessageItem {
  return {
    type: 'message',
    role: message.role as Role,
    content: parseContent(message.content),
    ...extOf(message, PLAIN_FIELDS),
  };
}

function parseAssistant(message: JsonObject, position: number, calls: CallsSoFar): Item[] {
  const seals = sealsOfCalls(message);
  const toolCalls = [
    ...objectsAt(message, 'tool_calls').map((call) => parseToolCall(call, seals)),
    ...parseLegacyCall(message, position),
  ];
  for (const call of toolCalls) calls.add(call);
  const images = objectsAt(message, 'images').map(parseImageItem);
  const thoughts = parseThoughts(message, seals);
  const content = assistantContent(message);
  const ext = extOf(message, ASSISTANT_FIELDS);
  const isOnlyMessage = toolCalls.length + images.length + thoughts.length === 0;
  const hasMessage = content.length > 0 || ext.ext !== undefined || isOnlyMessage;
  const spoken: MessageItem[] = hasMessage ? [{ type: 'message', role: 'assistant', content, ...ext }] : [];
  return [...thoughts, ...spoken, ...images, ...toolCalls];
}

function assistantContent(message: JsonObject): Part[] {
  const refusal = textAt(message, 'refusal');
  const parts = parseContent(message.content).filter((part) => part.type !== 'text' || part.text !== '');
  return refusal === undefined ? parts : [...parts, { type: 'refusal', refusal }];
}

function parseToolMessage(message: JsonObject, calls: CallsSoFar): ToolResultItem {
  const callId = message.tool_call_id as string;
  return {
    type: 'tool-result',
    kind: calls.kindOf(callId),
    callId,
    content: parseContent(message.content),
    ...extOf(message, TOOL_FIELDS),
  };
}

function parseFunctionMessage(message: JsonObject, calls: CallsSoFar): ToolResultItem {
  return {
    type: 'tool-result',
    kind: 'function',
    callId: calls.latestNamed(message.name as string),
    content: parseContent(message.content),
    ...extOf(message, FUNCTION_FIELDS),
  };
}

// --- Thoughts --------------------------------------------------------------------------------------------------------

/** Seals that belong to tool calls, by the id of the call. */
function sealsOfCalls(message: JsonObject): ReadonlyMap<string, string> {
  const callIds = new Set(objectsAt(message, 'tool_calls').map(({ id }) => id));
  const seals = new Map<string, string>();
  for (const detail of objectsAt(message, 'reasoning_details')) {
    const [id, data] = [textAt(detail, 'id'), textAt(detail, 'data')];
    if (id !== undefined && data !== undefined && callIds.has(id)) seals.set(id, data);
  }
  return seals;
}

/** Details say everything that the plain text says, and more. */
function parseThoughts(message: JsonObject, seals: ReadonlyMap<string, string>): Item[] {
  const details = objectsAt(message, 'reasoning_details').filter(
    (detail) => !seals.has(textAt(detail, 'id') ?? ''),
  );
  if (details.length > 0) return parseReasoningDetails(details);
  const text = textAt(message, 'reasoning') ?? textAt(message, 'reasoning_content');
  return text === undefined ? [] : [{ type: 'reasoning', text: [text], summary: [] }];
}

// --- Tool calls and images ---------------------------------------------------------------------------------------------

const CALL_FIELDS = new Set(['id', 'type', 'index', 'function', 'custom']);

function parseToolCall(call: JsonObject, seals: ReadonlyMap<string, string>): ToolCallItem {
  const callId = call.id as string;
  const custom = objectAt(call, 'custom');
  const isCustom = call.type === 'custom' && custom !== undefined;
  const body = isCustom ? custom : objectAt(call, 'function');
  const signature = seals.get(callId);
  return {
    type: 'tool-call',
    kind: isCustom ? 'custom' : 'function',
    callId,
    name: textAt(body, 'name') ?? '',
    input: textAt(body, isCustom ? 'input' : 'arguments') ?? '',
    ...(signature !== undefined && { signature }),
    ...extOf(call, CALL_FIELDS),
  };
}

/** A legacy call has no id; its place in the conversation makes one. */
function parseLegacyCall(message: JsonObject, position: number): ToolCallItem[] {
  const call = objectAt(message, 'function_call');
  if (call === undefined) return [];
  return [
    {
      type: 'tool-call',
      kind: 'function',
      callId: `call_${position}`,
      name: call.name as string,
      input: call.arguments as string,
    },
  ];
}

function parseImageItem(image: JsonObject): ImageItem {
  return { type: 'image', source: parseUrl(textAt(objectAt(image, 'image_url'), 'url') ?? '') };
}

// --- Content parts -----------------------------------------------------------------------------------------------------

/** Reads a string or a list of parts. */
export function parseContent(content: Json | undefined): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isJsonObject).map(parsePart) : [];
}

const PART_FIELDS = new Set([
  'type',
  'text',
  'refusal',
  'image_url',
  'input_audio',
  'file',
  'video_url',
  'cache_control',
]);

function parsePart(part: JsonObject): Part {
  const rest = { ...cacheOf(part), ...extOf(part, PART_FIELDS) };
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text as string, ...rest };
    case 'refusal':
      return { type: 'refusal', refusal: part.refusal as string, ...extOf(part, PART_FIELDS) };
    case 'image_url':
      return { ...parseImagePart(part), ...rest };
    case 'file':
      return { ...parseFilePart(part), ...rest };
    case 'input_audio': {
      const audio = objectAt(part, 'input_audio');
      const [data, format] = [textAt(audio, 'data') ?? '', textAt(audio, 'format') ?? ''];
      return { type: 'audio', data, format, ...extOf(part, PART_FIELDS) };
    }
    case 'video_url': {
      const url = textAt(objectAt(part, 'video_url'), 'url') ?? '';
      return { type: 'video', url, ...extOf(part, PART_FIELDS) };
    }
    default:
      return { type: 'opaque', dialect: 'chat', value: part };
  }
}

function parseImagePart(part: JsonObject): Part {
  const image = objectAt(part, 'image_url');
  const detail = textAt(image, 'detail');
  const source = parseUrl(textAt(image, 'url') ?? '');
  return detail === undefined ? { type: 'image', source } : { type: 'image', source, detail };
}

function parseFilePart(part: JsonObject): Part {
  const file = objectAt(part, 'file');
  const [filename, data] = [textAt(file, 'filename'), textAt(file, 'file_data')];
  const source =
    data === undefined
      ? ({ kind: 'file-id', fileId: textAt(file, 'file_id') ?? '' } as const)
      : parseFileData(data, filename);
  return filename === undefined ? { type: 'file', source } : { type: 'file', source, filename };
}

function cacheOf(part: JsonObject): { cache?: CacheMark } {
  const cache = parseCacheMark(part.cache_control);
  return cache === undefined ? {} : { cache };
}

function extOf(object: JsonObject, known: ReadonlySet<string>): { ext?: Ext } {
  const chat = membersBeyond(object, known);
  return chat === undefined ? {} : { ext: { chat } };
}
