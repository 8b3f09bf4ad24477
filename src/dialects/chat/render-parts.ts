import type { CacheMark, Part } from '../../ir/items.ts';
import type { Quirks } from '../../ir/quirks.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { stringAt, textAt } from '../../kit/json/members.ts';
import { reportTextMembers } from '../shared/blocks/part-losses.ts';
import { textOfForeignPart } from '../shared/blocks/text-of-foreign-part.ts';
import { renderUrl } from '../shared/media/data-url.ts';
import type { Report } from '../shared/report/report.ts';
import { renderCacheMark } from '../shared/requests/gateway-fields.ts';
import { NO_CACHE_MARKS, NO_CHAT_FIELD, reportForeignMembers } from './render-losses.ts';

export interface PartsContext {
  readonly report: Report;
  /** True if the upstream takes `cache_control` on text parts. */
  readonly takesCacheMarks: boolean;
  readonly quirks: Quirks;
}

/** Content for the upstream: a string if that says it all. */
export function contentOf(rendered: readonly JsonObject[], quirks: Quirks): string | JsonObject[] {
  const [only] = rendered;
  if (only === undefined) return '';
  const isPlain = rendered.length === 1 && only.type === 'text' && Object.keys(only).length === 2;
  if (isPlain && typeof only.text === 'string') return only.text;
  return (quirks.refusesTextLists ? joinedText(rendered) : undefined) ?? [...rendered];
}

/** Parts that are all text as one text; undefined if there are others. */
export function joinedText(parts: readonly unknown[]): string | undefined {
  const texts = parts.map((part) =>
    isJsonObject(part) && part.type === 'text' ? stringAt(part, 'text') : undefined,
  );
  return texts.includes(undefined) ? undefined : texts.join('\n');
}

/** Renders one part; returns none, and reports that, if the upstream cannot take it. */
export function renderPart(part: Part, context: PartsContext): JsonObject[] {
  const { report } = context;
  switch (part.type) {
    case 'text':
      return [renderText(part, context)];
    case 'refusal':
      reportForeignMembers(part, 'items', report);
      return [{ type: 'refusal', refusal: part.refusal, ...part.ext?.chat }];
    case 'image':
      return renderImage(part, report);
    case 'file':
      return [renderFile(part, report)];
    case 'audio': {
      reportForeignMembers(part, 'items', report);
      const { data, format } = part;
      return [{ type: 'input_audio', input_audio: { data, format }, ...part.ext?.chat }];
    }
    case 'video':
      reportForeignMembers(part, 'items', report);
      return [{ type: 'video_url', video_url: { url: part.url }, ...part.ext?.chat }];
    case 'opaque':
      return renderOpaque(part, context);
  }
}

function renderText(part: Extract<Part, { type: 'text' }>, context: PartsContext): JsonObject {
  const { report } = context;
  reportTextMembers(part, report, NO_CHAT_FIELD);
  reportForeignMembers(part, 'items', report);
  return { type: 'text', text: part.text, ...markOf(part, part.cache, context), ...part.ext?.chat };
}

/** A mark for the upstream: on text only, if at all. `owner`: the object that the caller marked. */
function markOf(
  owner: object,
  mark: CacheMark | undefined,
  { report, takesCacheMarks }: PartsContext,
): { cache_control?: JsonObject } {
  if (mark !== undefined && takesCacheMarks) return { cache_control: renderCacheMark(mark) };
  reportLostMark(owner, mark, report);
  return {};
}

/** Reports the mark of an object that cannot carry one. */
export function reportLostMark(owner: object, mark: CacheMark | undefined, report: Report): void {
  if (mark !== undefined) report.dropped(report.place(owner, 'items', 'cache_control'), NO_CACHE_MARKS);
}

function renderImage(part: Extract<Part, { type: 'image' }>, report: Report): JsonObject[] {
  const url = renderUrl(part.source);
  if (url === undefined) {
    report.dropped(report.place(part, 'items'), 'images by file id cannot be sent to a chat upstream');
    return [];
  }
  reportLostMark(part, part.cache, report);
  reportForeignMembers(part, 'items', report);
  const detail = part.detail === undefined ? {} : { detail: part.detail };
  return [{ type: 'image_url', image_url: { url, ...detail }, ...part.ext?.chat }];
}

function renderFile(part: Extract<Part, { type: 'file' }>, report: Report): JsonObject {
  reportLostMark(part, part.cache, report);
  const { source } = part;
  if (source.kind === 'text') return renderTextFile(part, source.text, report);
  reportForeignMembers(part, 'items', report);
  const name = part.filename === undefined ? {} : { filename: part.filename };
  switch (source.kind) {
    case 'file-id':
      return { type: 'file', file: { ...name, file_id: source.fileId }, ...part.ext?.chat };
    case 'url':
      report.coerced(report.place(part, 'items'), 'the address of a file is sent as file_data');
      return { type: 'file', file: { ...name, file_data: source.url }, ...part.ext?.chat };
    case 'base64':
      return {
        type: 'file',
        file: { filename: part.filename ?? 'document.pdf', file_data: renderUrl(source) },
        ...part.ext?.chat,
      };
  }
}

/** A text document, after the caller's title and context. */
function renderTextFile(part: Extract<Part, { type: 'file' }>, text: string, report: Report): JsonObject {
  reportForeignMembers(part, 'items', report, ['context']);
  report.coerced(report.place(part, 'items'), 'a text document is sent as plain text');
  const lines = [part.filename, textAt(part.ext?.messages, 'context'), text];
  return {
    type: 'text',
    text: lines.filter((line) => line !== undefined).join('\n'),
    ...part.ext?.chat,
  };
}

function renderOpaque(part: Extract<Part, { type: 'opaque' }>, context: PartsContext): JsonObject[] {
  const { report } = context;
  if (part.dialect === 'chat') return [part.value];
  const text = textOfForeignPart(part, report, NO_CHAT_FIELD);
  if (text !== undefined) return [{ type: 'text', text: text.text, ...markOf(part, text.cache, context) }];
  const kind = textAt(part.value, 'type') ?? 'this kind of part';
  report.dropped(report.place(part, 'items'), `chat upstreams do not know ${kind}`);
  return [];
}
