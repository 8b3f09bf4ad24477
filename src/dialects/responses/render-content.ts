import type {
  Annotation,
  ImageItem,
  Item,
  MessageItem,
  Part,
  ReasoningItem,
  Source,
  ToolCallItem,
  ToolResultItem,
} from '../../ir/items.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { compact, objectAt, objectsOf, stringAt } from '../../kit/json/members.ts';
import { renderUrl } from '../shared/media/data-url.ts';
import type { Report } from '../shared/report/report.ts';
import { facts } from './facts.ts';
import { filenameFor } from './media.ts';
import { cleanItem } from './render-losses.ts';
import { ID_PREFIXES } from './wire.ts';
import { isOperatorItem } from './wire-content.ts';

/** Renders items and parts as input for an upstream of this dialect. */

/** Place of an item in the caller's body, and the report. */
export interface ItemSpot {
  readonly place: string;
  readonly report: Report;
}

/** The spot of an item of the request: its place is looked up only for a report entry. */
export class OwnSpot implements ItemSpot {
  readonly #item: Item;
  readonly report: Report;

  constructor(item: Item, report: Report) {
    this.#item = item;
    this.report = report;
  }

  get place(): string {
    return this.report.place(this.#item, 'items');
  }
}

/** Renders one item; returns undefined, and reports that, if the upstream cannot take it. */
export function renderItem(item: Item, spot: ItemSpot): JsonObject | undefined {
  switch (item.type) {
    case 'message':
      return renderMessage(item, spot.report);
    case 'reasoning':
      return renderReasoning(item, spot);
    case 'tool-call':
      return renderToolCall(item, spot);
    case 'tool-result':
      return renderToolResult(item, spot);
    case 'image':
      return renderImageItem(item);
    case 'opaque':
      return renderOpaque(item, spot);
  }
}

function renderMessage(item: MessageItem, report: Report): JsonObject {
  return compact({
    type: 'message',
    id: ownId(item.id, ID_PREFIXES.message),
    role: item.role,
    status: item.status,
    phase: item.phase,
    content: renderParts(item.content, item.role === 'assistant' ? 'output_text' : 'input_text', report),
    ...item.ext?.responses,
  });
}

/** An id with a prefix that the upstream accepts. */
function ownId(id: string | undefined, prefix: string): string | undefined {
  return id?.startsWith(prefix) ? id : undefined;
}

/**
 * Sealed reasoning goes back to the family that sealed it. Reasoning of another family is sent as text, without its
 * id, which the upstream would look up and not find.
 */
function renderReasoning(item: ReasoningItem, spot: ItemSpot): JsonObject | undefined {
  const { encrypted, signature } = item;
  const isOwn = facts.seals.ofThoughts(item);
  const isSealed = encrypted !== undefined || signature !== undefined;
  const isVisible = item.text.length > 0 || item.summary.length > 0;
  if (isOwn && signature !== undefined) reportSeal('signature', spot);
  if (isSealed && !isOwn) {
    if (isVisible) reportSeal(spot.report.facts.seals.memberOf(item), spot);
    else spot.report.dropped(spot.place, 'sealed by another family of models, and without text');
  }
  if (!isOwn && !isVisible) return undefined;
  return compact({
    type: 'reasoning',
    id: isOwn ? item.id : undefined,
    summary: item.summary.map((text) => ({ type: 'summary_text', text })),
    content: item.text.length > 0 ? item.text.map((text) => ({ type: 'reasoning_text', text })) : undefined,
    encrypted_content: isOwn ? encrypted : undefined,
    status: item.status,
    ...item.ext?.responses,
  });
}

function reportSeal(member: string | undefined, { place, report }: ItemSpot): void {
  const detail = 'sealed by another family of models; sent without the seal';
  if (member === undefined) report.coerced(place, detail);
  else report.dropped(`${place}.${member}`, detail);
}

function renderToolCall(item: ToolCallItem, spot: ItemSpot): JsonObject {
  if (item.signature !== undefined) {
    // The chat format has seals of calls beside the list of calls.
    const place = spot.place.replace(/\.tool_calls\[\d+\]$/, '.reasoning_details');
    reportSeal(spot.report.facts.seals.memberOf(item), { ...spot, place });
  }
  const input = item.kind === 'custom' ? { input: item.input } : { arguments: item.input };
  return compact({
    type: item.kind === 'custom' ? 'custom_tool_call' : 'function_call',
    id: ownId(item.id, ID_PREFIXES[item.kind]),
    call_id: item.callId,
    name: item.name,
    namespace: item.namespace,
    ...input,
    status: item.status,
    ...item.ext?.responses,
  });
}

function renderToolResult(item: ToolResultItem, spot: ItemSpot): JsonObject {
  return compact({
    type: item.kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output',
    id: item.id,
    call_id: item.callId,
    output: renderOutput(item, spot.report),
    status: item.status,
    ...item.ext?.responses,
  });
}

/** The output of a tool: a string if that says it all. */
function renderOutput(item: ToolResultItem, report: Report): Json {
  const [only] = item.content;
  if (only === undefined) return '';
  if (item.content.length === 1 && only.type === 'text' && only.ext?.responses === undefined)
    return only.text;
  return renderParts(item.content, 'input_text', report);
}

function renderImageItem(item: ImageItem): JsonObject {
  return compact({ ...imageFields(item.source), id: item.id, status: item.status, ...item.ext?.responses });
}

/** Type and content of an image that a model made. */
export function imageFields(source: Source): JsonObject {
  const format = source.kind === 'base64' ? source.mediaType.replace(/^image\//, '') : 'png';
  return compact({
    type: 'image_generation_call',
    result: source.kind === 'base64' ? source.data : (renderUrl(source) ?? null),
    output_format: format === 'png' ? undefined : format,
  });
}

function renderOpaque(
  item: Extract<Item, { type: 'opaque' }>,
  { place, report }: ItemSpot,
): JsonObject | undefined {
  const type = stringAt(item.value, 'type') ?? 'unknown';
  if (item.dialect === 'responses' && !isOperatorItem(type)) return cleanItem(item.value, place, report);
  report.dropped(place, `the upstream has no place for ${type}`);
  return undefined;
}

type TextType = 'input_text' | 'output_text';

function renderParts(parts: readonly Part[], textType: TextType, report: Report): JsonObject[] {
  const content: JsonObject[] = [];
  for (const part of parts) {
    const rendered = renderPart(part, textType, report);
    if (rendered !== undefined) content.push(rendered);
  }
  return content;
}

function renderPart(part: Part, textType: TextType, report: Report): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return textType === 'output_text' ? renderSaid(part, report) : renderHeard(part, report);
    case 'refusal':
      return { type: 'refusal', refusal: part.refusal, ...part.ext?.responses };
    case 'image':
      return compact({
        type: 'input_image',
        image_url: renderUrl(part.source),
        file_id: part.source.kind === 'file-id' ? part.source.fileId : undefined,
        detail: part.detail ?? 'auto',
        ...part.ext?.responses,
      });
    case 'file':
      return compact({ type: 'input_file', ...fileFields(part), ...part.ext?.responses });
    case 'audio':
      return {
        type: 'input_audio',
        input_audio: { data: part.data, format: part.format },
        ...part.ext?.responses,
      };
    case 'video':
      return { type: 'input_video', video_url: part.url, ...part.ext?.responses };
    case 'opaque':
      return renderOpaquePart(part, textType, report);
  }
}

type TextPart = Extract<Part, { type: 'text' }>;

/** Text of the model, with its annotations and log probabilities. */
function renderSaid(part: TextPart, report: Report): JsonObject {
  const annotations = part.annotations ?? [];
  const rendered = annotations.flatMap((annotation) => renderAnnotation(annotation, part.text));
  if (rendered.length < annotations.length) {
    report.dropped(report.place(part, 'items', 'annotations'), 'the upstream has no such annotations');
  }
  return compact({
    type: 'output_text',
    text: part.text,
    annotations: rendered,
    logprobs: part.logprobs === undefined ? undefined : [...part.logprobs],
    ...part.ext?.responses,
  });
}

/** Text of other roles, without annotations. */
function renderHeard(part: TextPart, report: Report): JsonObject {
  for (const member of ['annotations', 'logprobs'] as const) {
    if (part[member] === undefined) continue;
    report.dropped(report.place(part, 'items', member), 'only what the model said has such a field');
  }
  return { type: 'input_text', text: part.text, ...part.ext?.responses };
}

function fileFields(part: Extract<Part, { type: 'file' }>): JsonObject {
  const { source, filename } = part;
  switch (source.kind) {
    case 'url':
      return { file_url: source.url, filename };
    case 'file-id':
      return { file_id: source.fileId, filename };
    default:
      return { file_data: renderUrl(source), filename: filename ?? filenameFor(source.mediaType) };
  }
}

/** A part of another dialect: its text if it has some, else nothing. */
function renderOpaquePart(
  part: Extract<Part, { type: 'opaque' }>,
  textType: TextType,
  report: Report,
): JsonObject | undefined {
  if (part.dialect === 'responses') return part.value;
  const place = report.place(part, 'items');
  const type = stringAt(part.value, 'type') ?? 'unknown';
  const text = textIn(part.value);
  if (text === '') {
    report.dropped(place, `the upstream has no place for ${type}`);
    return undefined;
  }
  report.coerced(place, `${type} sent as plain text`);
  return { type: textType, text };
}

/** The readable text of a part: its title, its source, and every text in its content, each on lines of its own. */
function textIn(value: JsonObject): string {
  const head = [stringAt(value, 'title'), stringAt(value, 'source')];
  const texts = [...head, ...textsOf(value), ...textsOf(objectAt(value, 'source') ?? {})];
  const hasContent = texts.slice(head.length).some((text) => text !== '');
  return hasContent ? texts.filter((text) => text !== undefined && text !== '').join('\n') : '';
}

function textsOf(value: JsonObject): string[] {
  const own = stringAt(value, 'text') ?? stringAt(value, 'content');
  return own === undefined ? objectsOf(value.content).flatMap(textsOf) : [own];
}

/**
 * Writes an annotation of a text; those of other dialects are left out. One without a position covers the whole text:
 * formats without positions cite by block.
 */
export function renderAnnotation(annotation: Annotation, text: string): JsonObject[] {
  if (annotation.type === 'opaque') {
    return annotation.dialect === 'responses' ? [annotation.value] : [];
  }
  return [
    compact({
      type: 'url_citation',
      url: annotation.url,
      title: annotation.title ?? '',
      start_index: annotation.startIndex ?? 0,
      end_index: annotation.endIndex ?? text.length,
      content: annotation.content,
      ...annotation.ext?.responses,
    }),
  ];
}
