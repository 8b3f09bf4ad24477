import type {
  CacheMark,
  Ext,
  ImageItem,
  Item,
  MessageItem,
  Part,
  ReasoningItem,
  Role,
  ToolCallItem,
  ToolKind,
  ToolResultItem,
} from '../../ir/items.ts';
import type { Place, Places } from '../../ir/places.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { compact, membersBeyond, objectAt, objectsAt, objectsOf, textAt } from '../../kit/json/members.ts';
import { messageIndex } from '../shared/presets/preset-message.ts';
import { parseCacheMark } from '../shared/requests/gateway-fields.ts';
import { itemsOfKept } from './kept-calls.ts';
import { parseFileData, parseUrl } from './media.ts';
import {
  isSealOfCall,
  PLAIN_THOUGHTS,
  type PlacedThoughts,
  parseReasoningDetails,
  readSeal,
} from './reasoning.ts';

// --- Conversation ---------------------------------------------------------------------------------------------------

/** Position of a message, and the state of the conversation before it. */
interface Spot {
  readonly position: number;
  readonly place: Place;
  readonly places: Places;
  readonly calls: CallsSoFar;
}

/** The conversation of a validated request: one wire message is one or several items. */
export function parseConversation(messages: readonly JsonObject[], places: Places): Item[] {
  const parsing = new Parsing(messages, places);
  for (let position = 0; position < messages.length; position++) parsing.visit(position);
  return parsing.items;
}

class Parsing {
  readonly items: Item[] = [];
  readonly #messages: readonly JsonObject[];
  readonly #places: Places;
  readonly #calls = new CallsSoFar();

  constructor(messages: readonly JsonObject[], places: Places) {
    this.#messages = messages;
    this.#places = places;
  }

  visit(position: number): void {
    const message = this.#messages[position];
    if (message === undefined) return;
    const places = this.#places;
    const own = messageIndex(this.#messages, position);
    const place = own < 0 ? 'preset' : places.inside('messages', own);
    const spot = { position, place, places, calls: this.#calls };
    if (message.role === 'assistant') this.items.push(...parseAssistant(message, spot));
    else this.items.push(places.put(parseSingle(message, spot), place));
  }
}

function parseSingle(message: JsonObject, spot: Spot): Item {
  switch (message.role) {
    case 'tool':
      return parseToolMessage(message, spot);
    case 'function':
      return parseFunctionMessage(message, spot);
    default:
      return parsePlainMessage(message, spot);
  }
}

/** Calls of earlier messages that later ones refer to. */
class CallsSoFar {
  /** Undefined for none: most conversations have no calls. */
  #kinds: Map<string, ToolKind> | undefined;
  #byName: Map<string, string> | undefined;

  add(call: ToolCallItem): void {
    this.#kinds ??= new Map();
    this.#byName ??= new Map();
    this.#kinds.set(call.callId, call.kind);
    this.#byName.set(call.name, call.callId);
  }

  kindOf(callId: string): ToolKind {
    return this.#kinds?.get(callId) ?? 'function';
  }

  /** Legacy `function` messages name the function instead of the call. */
  latestNamed(name: string): string {
    return this.#byName?.get(name) ?? `call_${name}`;
  }
}

// --- Messages -------------------------------------------------------------------------------------------------------

const PLAIN_FIELDS = new Set(['role', 'content']);
const ASSISTANT_FIELDS = new Set([
  'role',
  'content',
  'refusal',
  'reasoning_details',
  ...PLAIN_THOUGHTS,
  'tool_calls',
  'function_call',
  'images',
]);
const TOOL_FIELDS = new Set(['role', 'content', 'tool_call_id']);
const FUNCTION_FIELDS = new Set(['role', 'content', 'name']);

function parsePlainMessage(message: JsonObject, spot: Spot): MessageItem {
  const role = message.role as Role;
  const content = parseContent(message.content, spot);
  const chat = membersBeyond(message, PLAIN_FIELDS);
  return chat === undefined
    ? { type: 'message', role, content }
    : { type: 'message', role, content, ext: { chat } };
}

function parseAssistant(message: JsonObject, spot: Spot): Item[] {
  const { places, place } = spot;
  if (membersBeyond(message, PLAIN_FIELDS) === undefined) {
    const content = assistantContent(message, spot);
    return [places.put({ type: 'message', role: 'assistant', content }, place)];
  }
  const seals = sealsOfCalls(message);
  const toolCalls = [
    ...parseEach(message, 'tool_calls', spot, (call) => parseToolCall(call, seals)),
    ...parseLegacyCall(message, spot),
  ];
  for (const call of toolCalls) spot.calls.add(call);
  const images = parseEach(message, 'images', spot, parseImageItem);
  const thoughts = parseThoughts(message, seals, spot);
  const content = assistantContent(message, spot);
  const ext = extOf(message, ASSISTANT_FIELDS);
  const isOnlyMessage = toolCalls.length + images.length + thoughts.length === 0;
  const hasMessage = content.length > 0 || ext.ext !== undefined || isOnlyMessage;
  const spoken: MessageItem = { type: 'message', role: 'assistant', content, ...ext };
  const said: Item[] = [...(hasMessage ? [places.put(spoken, place)] : []), ...images];
  const kept = itemsOfKept(message);
  return [...inOrder(said, hasMessage, thoughts), ...kept.calls, ...toolCalls, ...kept.results];
}

/** The items of a message, with each thought after the content that it followed, if that is still there. */
function inOrder(said: readonly Item[], hasMessage: boolean, thoughts: readonly PlacedThoughts[]): Item[] {
  const groups: Item[][] = [[], ...said.map((item) => [item])];
  for (const { item, after } of thoughts) {
    const place = after === undefined ? 0 : Math.min(hasMessage ? after + 1 : after, said.length);
    groups[place]?.push(item);
  }
  return groups.flat();
}

/** Parses the objects in a list of the message, and notes their places. */
function parseEach<T extends object>(
  message: JsonObject,
  field: string,
  { place, places }: Spot,
  parse: (value: JsonObject) => T,
): T[] {
  const values = objectsAt(message, field);
  if (values.length === 0) return [];
  const list = places.inside(place, field);
  return values.map((value, at) => places.put(parse(value), places.inside(list, at)));
}

function assistantContent(message: JsonObject, spot: Spot): Part[] {
  const refusal = textAt(message, 'refusal');
  const given = parseContent(message.content, spot);
  const parts = given.some(isEmptyText) ? given.filter((part) => !isEmptyText(part)) : given;
  if (refusal === undefined) return parts;
  const { places, place } = spot;
  return [...parts, places.put({ type: 'refusal', refusal }, places.inside(place, 'refusal'))];
}

function isEmptyText(part: Part): boolean {
  return part.type === 'text' && part.text === '';
}

// --- Thoughts -------------------------------------------------------------------------------------------------------

type CallSeal = Pick<ToolCallItem, 'signature' | 'signatureFormat' | 'signatureGivenBy'>;

function sealsOfCalls(message: JsonObject): ReadonlyMap<string, CallSeal> {
  if (!Array.isArray(message.reasoning_details)) return NO_SEALS;
  const seals = new Map<string, CallSeal>();
  for (const detail of objectsAt(message, 'reasoning_details').filter(isSealOfCall(message))) {
    const { signature, format, givenBy } = readSeal(textAt(detail, 'data') ?? '', 'signature');
    const signatureFormat = format ?? textAt(detail, 'format');
    seals.set(textAt(detail, 'id') ?? '', compact({ signature, signatureFormat, signatureGivenBy: givenBy }));
  }
  return seals;
}

const NO_SEALS: ReadonlyMap<string, CallSeal> = new Map();

/** Details include the plain text and more. */
function parseThoughts(
  message: JsonObject,
  seals: ReadonlyMap<string, CallSeal>,
  spot: Spot,
): PlacedThoughts[] {
  const { places, place } = spot;
  const details = objectsAt(message, 'reasoning_details').filter(
    (detail) => !seals.has(textAt(detail, 'id') ?? ''),
  );
  if (details.length > 0) {
    const list = places.inside(place, 'reasoning_details');
    return parseReasoningDetails(details).map(({ item, after }) => ({ item: places.put(item, list), after }));
  }
  const field = PLAIN_THOUGHTS.find((name) => textAt(message, name) !== undefined);
  if (field === undefined) return [];
  const text = [textAt(message, field) ?? ''];
  const item: ReasoningItem = { type: 'reasoning', text, summary: [] };
  return [{ item: places.put(item, places.inside(place, field)), after: undefined }];
}

// --- Calls and results ----------------------------------------------------------------------------------------------

const CALL_FIELDS = new Set(['id', 'type', 'index', 'function', 'custom']);

function parseToolCall(call: JsonObject, seals: ReadonlyMap<string, CallSeal>): ToolCallItem {
  const callId = call.id as string;
  const custom = objectAt(call, 'custom');
  const isCustom = call.type === 'custom' && custom !== undefined;
  const body = isCustom ? custom : objectAt(call, 'function');
  return {
    type: 'tool-call',
    kind: isCustom ? 'custom' : 'function',
    callId,
    name: textAt(body, 'name') ?? '',
    input: textAt(body, isCustom ? 'input' : 'arguments') ?? '',
    ...seals.get(callId),
    ...extOf(call, CALL_FIELDS),
  };
}

/** A legacy call has no id; its position in the conversation gives it one. */
function parseLegacyCall(message: JsonObject, { position, place, places }: Spot): ToolCallItem[] {
  const given = objectAt(message, 'function_call');
  if (given === undefined) return [];
  const call: ToolCallItem = {
    type: 'tool-call',
    kind: 'function',
    callId: `call_${position}`,
    name: given.name as string,
    input: given.arguments as string,
  };
  return [places.put(call, places.inside(place, 'function_call'))];
}

function parseToolMessage(message: JsonObject, spot: Spot): ToolResultItem {
  const callId = message.tool_call_id as string;
  return {
    type: 'tool-result',
    kind: spot.calls.kindOf(callId),
    callId,
    content: parseContent(message.content, spot),
    ...extOf(message, TOOL_FIELDS),
  };
}

function parseFunctionMessage(message: JsonObject, spot: Spot): ToolResultItem {
  return {
    type: 'tool-result',
    kind: 'function',
    callId: spot.calls.latestNamed(message.name as string),
    content: parseContent(message.content, spot),
    ...extOf(message, FUNCTION_FIELDS),
  };
}

// --- Images ---------------------------------------------------------------------------------------------------------

function parseImageItem(image: JsonObject): ImageItem {
  return { type: 'image', source: parseUrl(textAt(objectAt(image, 'image_url'), 'url') ?? '') };
}

// --- Content parts --------------------------------------------------------------------------------------------------

function parseContent(content: Json | undefined, { places, place }: Spot): Part[] {
  const own = places.inside(place, 'content');
  if (typeof content === 'string') return [places.put({ type: 'text', text: content }, own)];
  return objectsOf(content).map((part, at) => places.put(parsePart(part), places.inside(own, at)));
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
    case 'video_url':
    case 'input_video': {
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

// --- Members of any item --------------------------------------------------------------------------------------------

function cacheOf(part: JsonObject): { cache?: CacheMark } {
  const cache = parseCacheMark(part.cache_control);
  return cache === undefined ? {} : { cache };
}

function extOf(object: JsonObject, known: ReadonlySet<string>): { ext?: Ext } {
  const chat = membersBeyond(object, known);
  return chat === undefined ? {} : { ext: { chat } };
}
