import type { Part } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, stringAt } from '../../kit/json/members.ts';
import { textOfForeignPart } from '../shared/blocks/text-of-foreign-part.ts';
import { renderUrl } from '../shared/media/data-url.ts';
import { NO_FIELD } from '../shared/report/field-fates.ts';
import type { Report } from '../shared/report/report.ts';
import { renderAnnotation } from './citations.ts';
import { filenameFor } from './media.ts';
import { NO_CACHE_MARKS } from './render-losses.ts';

/** Renders parts of content for an upstream of this dialect. */

type TextType = 'input_text' | 'output_text';

/** Parts of a message or a tool's output, as text of the model or of other roles. */
export function renderParts(parts: readonly Part[], textType: TextType, report: Report): JsonObject[] {
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
  const text = textOfForeignPart(part, report, NO_FIELD);
  if (text === undefined) {
    const type = stringAt(part.value, 'type') ?? 'unknown';
    report.dropped(report.place(part, 'items'), `the upstream has no place for ${type}`);
    return undefined;
  }
  if (text.cache !== undefined) {
    report.dropped(report.place(part, 'items', 'cache_control'), NO_CACHE_MARKS);
  }
  return { type: textType, text: text.text };
}
