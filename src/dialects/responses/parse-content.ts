import type {
  DialectName,
  Ext,
  ImageItem,
  Item,
  ItemStatus,
  MessageItem,
  Part,
  ReasoningItem,
  Role,
  Source,
  ToolCallItem,
  ToolKind,
  ToolResultItem,
} from '../../ir/items.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import {
  compact,
  membersBeyond,
  objectAt,
  objectsAt,
  objectsOf,
  stringAt,
  textAt,
} from '../../kit/json/members.ts';
import { templateItemCount } from '../shared/presets/prompt-template.ts';
import { type OpenedSeal, unwrapSeal } from '../shared/reasoning/custody.ts';
import { parseCacheMark } from '../shared/requests/gateway-fields.ts';
import type { ItemReference, ItemReferences } from '../shared/requests/item-references.ts';
import { withEach } from '../shared/requests/with-each.ts';
import { readAnnotation } from './citations.ts';
import { parseFileData, parseUrl } from './media.ts';
import { OWN_REASONING_FORMAT } from './wire.ts';
import { KEPT_CALL, KEPT_REQUEST, showsCall } from './wire-content.ts';

/** Parses items and parts of this format. */

// --- Conversation ---------------------------------------------------------------------------------------------------

type ItemParser = (value: JsonObject) => Item;

const ITEM_PARSERS: Readonly<Record<string, ItemParser>> = {
  message: parseMessage,
  reasoning: parseThoughts,
  function_call: (value) => parseToolCall(value, 'function', 'arguments'),
  function_call_output: (value) => parseToolResult(value, 'function'),
  custom_tool_call: (value) => parseToolCall(value, 'custom', 'input'),
  custom_tool_call_output: (value) => parseToolResult(value, 'custom'),
  image_generation_call: parseImage,
};

/** Parses one item; kinds that the representation does not model stay opaque. */
export function parseItem(value: JsonObject): Item {
  const parser = lookUp(ITEM_PARSERS, stringAt(value, 'type') ?? 'message');
  return parser === undefined ? opaque(value) : parser(value);
}

function opaque(value: JsonObject): Item {
  return { type: 'opaque', dialect: 'responses', value };
}

// --- Messages -------------------------------------------------------------------------------------------------------

const MESSAGE_FIELDS = new Set(['type', 'role', 'content', 'id', 'status', 'phase']);

function parseMessage(value: JsonObject): MessageItem {
  return compact({
    type: 'message',
    role: value.role as Role,
    content: parseContent(value.content),
    id: stringAt(value, 'id'),
    status: statusAt(value),
    phase: stringAt(value, 'phase'),
    ext: extOf(value, MESSAGE_FIELDS),
  });
}

export function parseContent(content: Json | undefined): Part[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content).map(parsePart);
}

// --- Thoughts -------------------------------------------------------------------------------------------------------

const REASONING_FIELDS = new Set([
  'type',
  'id',
  'summary',
  'content',
  'encrypted_content',
  'signature',
  'format',
  'status',
]);

/** Parses a reasoning item, unwrapping its seal. */
export function parseThoughts(value: JsonObject): ReasoningItem {
  return compact({
    type: 'reasoning',
    text: thoughtsIn(value, 'content'),
    summary: thoughtsIn(value, 'summary'),
    ...sealOf(value),
    status: statusAt(value),
    ext: extOf(value, REASONING_FIELDS),
  });
}

/** Parts of a reasoning item that the representation models, by the list that they are in. */
const THOUGHT_TYPES = { content: 'reasoning_text', summary: 'summary_text' } as const;

function thoughtsIn(value: JsonObject, field: keyof typeof THOUGHT_TYPES): string[] {
  return objectsAt(value, field).flatMap((part) =>
    part.type === THOUGHT_TYPES[field] ? [textOf(part)] : [],
  );
}

/** An item of the caller's with its lists as they are, for upstreams of this dialect, if they have other parts. */
export function withOtherThoughts(item: Item, value: JsonObject): Item {
  if (item.type !== 'reasoning') return item;
  const fields = Object.entries(THOUGHT_TYPES).filter(([field, type]) =>
    objectsAt(value, field).some((part) => part.type !== type),
  );
  if (fields.length === 0) return item;
  const lists = Object.fromEntries(fields.map(([field]) => [field, value[field] ?? []]));
  return { ...item, ext: { ...item.ext, responses: { ...item.ext?.responses, ...lists } } };
}

/** The seal of a reasoning item with the id and the format it belongs to. */
export function sealOf(value: JsonObject): OpenedSeal {
  const encrypted = textAt(value, 'encrypted_content');
  const id = stringAt(value, 'id');
  const wrapped = encrypted === undefined ? undefined : unwrapSeal(encrypted);
  // Chat upstreams do not know ids that they did not give.
  if (wrapped !== undefined) return compact(wrapped.givenBy === 'chat' ? wrapped : { id, ...wrapped });
  const format = stringAt(value, 'format') ?? (encrypted === undefined ? undefined : OWN_REASONING_FORMAT);
  return compact({ id, signature: textAt(value, 'signature'), encrypted, format });
}

// --- Calls and results ----------------------------------------------------------------------------------------------

const TOOL_CALL_FIELDS = new Set([
  'type',
  'id',
  'call_id',
  'name',
  'namespace',
  'arguments',
  'input',
  'status',
  'signature',
]);

function parseToolCall(value: JsonObject, kind: ToolKind, inputField: string): ToolCallItem {
  return compact({
    type: 'tool-call',
    kind,
    callId: stringAt(value, 'call_id') ?? '',
    name: stringAt(value, 'name') ?? '',
    namespace: stringAt(value, 'namespace'),
    input: stringAt(value, inputField) ?? '',
    id: stringAt(value, 'id'),
    status: statusAt(value),
    ...sealOfCall(textAt(value, 'signature')),
    ext: extOf(value, TOOL_CALL_FIELDS),
  });
}

/** The seal of a call, unwrapped. */
export function sealOfCall(
  signature: string | undefined,
): Pick<ToolCallItem, 'signature' | 'signatureFormat' | 'signatureGivenBy'> {
  const wrapped = signature === undefined ? undefined : unwrapSeal(signature);
  if (wrapped === undefined) return compact({ signature });
  return compact({
    signature: wrapped.signature ?? wrapped.encrypted,
    signatureFormat: wrapped.format,
    signatureGivenBy: wrapped.givenBy,
  });
}

const TOOL_RESULT_FIELDS = new Set(['type', 'id', 'call_id', 'output', 'status']);

function parseToolResult(value: JsonObject, kind: ToolKind): ToolResultItem {
  return compact({
    type: 'tool-result',
    kind,
    callId: stringAt(value, 'call_id') ?? '',
    content: parseContent(value.output),
    id: stringAt(value, 'id'),
    status: statusAt(value),
    ext: extOf(value, TOOL_RESULT_FIELDS),
  });
}

// --- Images ---------------------------------------------------------------------------------------------------------

const IMAGE_FIELDS = new Set(['type', 'id', 'status', 'result', 'output_format']);

/** An image that the model made; one without content stays opaque. */
function parseImage(value: JsonObject): Item {
  const source = imageSourceOf(value);
  if (source === undefined) return opaque(value);
  return compact({
    type: 'image',
    source,
    id: stringAt(value, 'id'),
    status: statusAt(value),
    ext: extOf(value, IMAGE_FIELDS),
  });
}

/** Source of an image that the model made: bare base64, a data URL or an address. */
export function imageSourceOf(value: JsonObject): ImageItem['source'] | undefined {
  const result = stringAt(value, 'result');
  if (result === undefined || result === '') return undefined;
  if (/^(data|https?):/i.test(result)) return parseUrl(result);
  return {
    kind: 'base64',
    mediaType: `image/${stringAt(value, 'output_format') ?? 'png'}`,
    data: result,
  };
}

// --- Content parts --------------------------------------------------------------------------------------------------

type PartParser = (value: JsonObject) => Part;

const PART_PARSERS: Readonly<Record<string, PartParser>> = {
  input_text: parseText,
  output_text: parseText,
  refusal: (value) =>
    compact({
      type: 'refusal',
      refusal: stringAt(value, 'refusal') ?? '',
      ext: extOf(value, new Set(['type', 'refusal'])),
    }),
  input_image: parseImagePart,
  input_file: parseFilePart,
  input_audio: (value) => {
    const audio = objectAt(value, 'input_audio') ?? {};
    return compact({
      type: 'audio',
      data: stringAt(audio, 'data') ?? '',
      format: stringAt(audio, 'format') ?? '',
      ext: extOf(value, new Set(['type', 'input_audio'])),
    });
  },
  input_video: (value) =>
    compact({
      type: 'video',
      url: stringAt(value, 'video_url') ?? '',
      ext: extOf(value, new Set(['type', 'video_url'])),
    }),
};

/** Parses one part; kinds that the representation does not model stay opaque. */
export function parsePart(value: JsonObject): Part {
  const parser = lookUp(PART_PARSERS, stringAt(value, 'type') ?? '');
  return parser === undefined ? { type: 'opaque', dialect: 'responses', value } : parser(value);
}

const TEXT_FIELDS = new Set(['type', 'text', 'annotations', 'logprobs', 'cache_control']);

function parseText(value: JsonObject): Part {
  const annotations = objectsAt(value, 'annotations').map(readAnnotation);
  const logprobs = objectsAt(value, 'logprobs');
  return compact({
    type: 'text',
    text: textOf(value),
    annotations: annotations.length > 0 ? annotations : undefined,
    logprobs: logprobs.length > 0 ? logprobs : undefined,
    cache: parseCacheMark(value.cache_control),
    ext: extOf(value, TEXT_FIELDS),
  });
}

const IMAGE_PART_FIELDS = new Set(['type', 'image_url', 'file_id', 'detail', 'cache_control']);

function parseImagePart(value: JsonObject): Part {
  const url = stringAt(value, 'image_url');
  const detail = stringAt(value, 'detail');
  const source: Source =
    url === undefined ? { kind: 'file-id', fileId: stringAt(value, 'file_id') ?? '' } : parseUrl(url);
  return compact({
    type: 'image',
    source,
    detail: detail === 'auto' ? undefined : detail,
    cache: parseCacheMark(value.cache_control),
    ext: extOf(value, IMAGE_PART_FIELDS),
  });
}

const FILE_PART_FIELDS = new Set(['type', 'file_data', 'file_url', 'file_id', 'filename', 'cache_control']);

function parseFilePart(value: JsonObject): Part {
  const data = stringAt(value, 'file_data');
  const url = stringAt(value, 'file_url');
  const filename = stringAt(value, 'filename');
  const source =
    data !== undefined
      ? parseFileData(data, filename)
      : url !== undefined
        ? parseUrl(url)
        : { kind: 'file-id' as const, fileId: stringAt(value, 'file_id') ?? '' };
  return compact({
    type: 'file',
    source,
    filename,
    cache: parseCacheMark(value.cache_control),
    ext: extOf(value, FILE_PART_FIELDS),
  });
}

function textOf(value: JsonObject): string {
  return stringAt(value, 'text') ?? '';
}

// --- Members of any item --------------------------------------------------------------------------------------------

const ITEM_STATUSES: ReadonlySet<string> = new Set<ItemStatus>(['in_progress', 'completed', 'incomplete']);

export function statusAt(object: JsonObject): ItemStatus | undefined {
  const status = stringAt(object, 'status');
  return status !== undefined && ITEM_STATUSES.has(status) ? (status as ItemStatus) : undefined;
}

/** Members of an object that are not modelled, without nulls; undefined = none. */
export function extOf(
  object: JsonObject,
  modelled: ReadonlySet<string>,
  dialect: DialectName = 'responses',
): Ext | undefined {
  const rest = membersBeyond(object, modelled);
  return rest === undefined ? undefined : { [dialect]: rest };
}

// --- References -----------------------------------------------------------------------------------------------------

/** Path of an item of `input` in the caller's body, without items that a prompt template added before it. */
export function inputPlace(body: JsonObject, index: number): string {
  const own = index - templateItemCount(body);
  return own < 0 ? 'prompt' : `input[${own}]`;
}

/** `item_reference` items of `input`. */
export const itemReferences: ItemReferences = { find, replace, shownCalls, complete };

/** Message for a reference that could not be replaced. */
export const UNKNOWN_REFERENCE =
  'names no output item that this key was given within the last hour: send the item itself (store: false)';

export function referencesIn(body: JsonObject, input: readonly Json[]): readonly ItemReference[] {
  let found: ItemReference[] | undefined;
  for (let index = 0; index < input.length; index++) {
    const id = referencedId(input[index]);
    if (id === undefined) continue;
    found ??= [];
    found.push({ id, path: `${inputPlace(body, index)}.id` });
  }
  return found ?? NO_REFERENCES;
}

const NO_REFERENCES: readonly ItemReference[] = [];

function find(body: JsonObject): readonly ItemReference[] {
  return Array.isArray(body.input) ? referencesIn(body, body.input) : NO_REFERENCES;
}

/** An item that is named twice is copied: calls and results are paired by identity. */
function replace(body: JsonObject, items: ReadonlyMap<string, JsonObject>): JsonObject {
  return withEach(body, 'input', (item) => {
    const id = referencedId(item);
    const named = id === undefined ? undefined : items.get(id);
    return named === undefined ? item : { ...named };
  });
}

function referencedId(item: Json | undefined): string | undefined {
  return isJsonObject(item) && item.type === 'item_reference' ? (stringAt(item, 'id') ?? '') : undefined;
}

const APPROVAL = 'mcp_approval_response';

/** The id of a kept item that completes this one: its own, or that of the request that it approves. */
function completedBy(item: Json | undefined): string | undefined {
  if (!isJsonObject(item)) return undefined;
  if (item.type === APPROVAL) return stringAt(item, 'approval_request_id');
  return showsCall(item.type) ? stringAt(item, 'id') : undefined;
}

/** An approval after the request that it is for, if only the gateway has kept that; undefined = any other item. */
export function approvedRequest(value: JsonObject): readonly [JsonObject, JsonObject] | undefined {
  const request = value.type === APPROVAL ? objectAt(value, KEPT_REQUEST) : undefined;
  if (request === undefined) return undefined;
  const { [KEPT_REQUEST]: _kept, ...approval } = value;
  return [request, approval];
}

const NO_CALLS: readonly string[] = [];

function shownCalls({ input }: JsonObject): readonly string[] {
  if (!Array.isArray(input)) return NO_CALLS;
  let found: string[] | undefined;
  for (let index = 0; index < input.length; index++) {
    const id = completedBy(input[index]);
    if (id === undefined) continue;
    found ??= [];
    found.push(id);
  }
  return found ?? NO_CALLS;
}

/** A request for approval that the conversation has is not added. */
function complete(body: JsonObject, items: ReadonlyMap<string, JsonObject>): JsonObject {
  let given: ReadonlySet<Json | undefined> | undefined;
  return withEach(body, 'input', (item) => {
    const found = items.get(completedBy(item) ?? '');
    if (item.type === APPROVAL) {
      given ??= new Set(objectsOf(body.input).map(({ id }) => id));
      const isLost = found?.type === 'mcp_approval_request' && !given.has(found.id);
      return isLost ? { ...item, [KEPT_REQUEST]: found } : item;
    }
    const kept = found?.[KEPT_CALL];
    return kept === undefined ? item : { ...item, [KEPT_CALL]: kept };
  });
}
