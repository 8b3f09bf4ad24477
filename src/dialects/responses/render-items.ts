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
import type { Json, JsonObject } from '../../kit/json.ts';
import { compact, objectsOf, stringAt } from '../../kit/members.ts';
import { familyOf } from '../custody.ts';
import type { Report } from '../report.ts';

import { filenameFor, urlOf } from './sources.ts';
import { ID_PREFIXES } from './wire.ts';
import { isOperatorItem } from './wire-items.ts';

/** Items and parts of the representation, written as input for an upstream of this dialect. */

/** Writes one item; undefined when the upstream cannot take it, which is then in the report under `place`. */
export function renderItem(item: Item, place: string, report: Report): JsonObject | undefined {
  switch (item.type) {
    case 'message':
      return renderMessage(item, place, report);
    case 'reasoning':
      return renderReasoning(item, place, report);
    case 'tool-call':
      return renderToolCall(item, place, report);
    case 'tool-result':
      return renderToolResult(item, place, report);
    case 'image':
      return renderImageItem(item);
    case 'opaque':
      return renderOpaque(item, place, report);
  }
}

function renderMessage(item: MessageItem, place: string, report: Report): JsonObject {
  return compact({
    type: 'message',
    id: ownId(item.id, ID_PREFIXES.message),
    role: item.role,
    status: item.status,
    phase: item.phase,
    content: renderParts(
      item.content,
      item.role === 'assistant' ? 'output_text' : 'input_text',
      `${place}.content`,
      report,
    ),
    ...item.ext?.responses,
  });
}

/** An id that the upstream's own check of prefixes will let through. */
function ownId(id: string | undefined, prefix: string): string | undefined {
  return id?.startsWith(prefix) ? id : undefined;
}

/**
 * Reasoning goes back sealed to the family that sealed it. What another family sealed goes as text, without its id:
 * upstreams look ids up, and would not find it.
 */
function renderReasoning(item: ReasoningItem, place: string, report: Report): JsonObject | undefined {
  const { encrypted, signature, format } = item;
  const sealed = encrypted !== undefined || signature !== undefined;
  const isOwn = encrypted !== undefined && familyOf(format) === 'openai';
  if (sealed && !isOwn) {
    report.dropped(`${place}.${encrypted === undefined ? 'signature' : 'encrypted_content'}`, FOREIGN_SEAL);
  }
  if (!isOwn && item.text.length === 0 && item.summary.length === 0) return undefined;
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

const FOREIGN_SEAL = 'sealed by another family of models; only the text is sent';

function renderToolCall(item: ToolCallItem, place: string, report: Report): JsonObject {
  if (item.signature !== undefined) report.dropped(`${place}.signature`, FOREIGN_SEAL);
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

function renderToolResult(item: ToolResultItem, place: string, report: Report): JsonObject {
  if (item.isError === true)
    report.dropped(`${place}.is_error`, 'the upstream has no mark for failed tool calls');
  return compact({
    type: item.kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output',
    id: item.id,
    call_id: item.callId,
    output: renderOutput(item, place, report),
    status: item.status,
    ...item.ext?.responses,
  });
}

/** The output of a tool: a string where that says it all. */
function renderOutput(item: ToolResultItem, place: string, report: Report): Json {
  const [only, ...more] = item.content;
  if (only === undefined) return '';
  if (
    more.length === 0 &&
    only.type === 'text' &&
    only.ext?.responses === undefined &&
    only.cache === undefined
  ) {
    return only.text;
  }
  return renderParts(item.content, 'input_text', `${place}.output`, report);
}

function renderImageItem(item: ImageItem): JsonObject {
  return compact({ ...imageFields(item.source), id: item.id, status: item.status, ...item.ext?.responses });
}

/** Type and content of an image that a model made. */
export function imageFields(source: Source): JsonObject {
  const format = source.kind === 'base64' ? source.mediaType.replace(/^image\//, '') : 'png';
  return compact({
    type: 'image_generation_call',
    result: source.kind === 'base64' ? source.data : (urlOf(source) ?? null),
    output_format: format === 'png' ? undefined : format,
  });
}

function renderOpaque(
  item: Extract<Item, { type: 'opaque' }>,
  place: string,
  report: Report,
): JsonObject | undefined {
  const type = stringAt(item.value, 'type') ?? 'unknown';
  if (item.dialect === 'responses' && !isOperatorItem(type)) return item.value;
  report.dropped(place, `the upstream has no place for ${type}`);
  return undefined;
}

type TextType = 'input_text' | 'output_text';

function renderParts(
  parts: readonly Part[],
  textType: TextType,
  place: string,
  report: Report,
): JsonObject[] {
  return parts.flatMap((part, index) => {
    const rendered = renderPart(part, textType, `${place}[${index}]`, report);
    return rendered === undefined ? [] : [rendered];
  });
}

function renderPart(part: Part, textType: TextType, place: string, report: Report): JsonObject | undefined {
  if ('cache' in part && part.cache !== undefined) {
    report.dropped(`${place}.cache_control`, 'the upstream caches on its own and takes no marks');
  }
  switch (part.type) {
    case 'text':
      return textType === 'output_text'
        ? compact({
            type: 'output_text',
            text: part.text,
            annotations: (part.annotations ?? []).flatMap(renderAnnotation),
            logprobs: part.logprobs === undefined ? undefined : [...part.logprobs],
            ...part.ext?.responses,
          })
        : { type: 'input_text', text: part.text, ...part.ext?.responses };
    case 'refusal':
      return { type: 'refusal', refusal: part.refusal, ...part.ext?.responses };
    case 'image':
      return compact({
        type: 'input_image',
        image_url: urlOf(part.source),
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
      return renderOpaquePart(part, textType, place, report);
  }
}

function fileFields(part: Extract<Part, { type: 'file' }>): JsonObject {
  const { source, filename } = part;
  switch (source.kind) {
    case 'url':
      return { file_url: source.url, filename };
    case 'file-id':
      return { file_id: source.fileId, filename };
    default:
      return { file_data: urlOf(source), filename: filename ?? filenameFor(source.mediaType) };
  }
}

/** A part of another dialect: its text where it has some, else nothing. */
function renderOpaquePart(
  part: Extract<Part, { type: 'opaque' }>,
  textType: TextType,
  place: string,
  report: Report,
): JsonObject | undefined {
  if (part.dialect === 'responses') return part.value;
  const type = stringAt(part.value, 'type') ?? 'unknown';
  const text = textsIn(part.value).join('\n');
  if (text === '') {
    report.dropped(place, `the upstream has no place for ${type}`);
    return undefined;
  }
  report.coerced(place, `${type} sent as plain text`);
  return { type: textType, text };
}

function textsIn(value: JsonObject): string[] {
  const own = stringAt(value, 'text') ?? stringAt(value, 'content');
  return own === undefined ? objectsOf(value.content).flatMap(textsIn) : [own];
}

/** Writes an annotation; those of other dialects are left out. */
export function renderAnnotation(annotation: Annotation): JsonObject[] {
  if (annotation.type === 'opaque') {
    return annotation.dialect === 'responses' ? [annotation.value] : [];
  }
  return [
    compact({
      type: 'url_citation',
      url: annotation.url,
      title: annotation.title ?? '',
      start_index: annotation.startIndex ?? 0,
      end_index: annotation.endIndex ?? 0,
      content: annotation.content,
      ...annotation.ext?.responses,
    }),
  ];
}
