import type { Item, Part, Source } from '../../../ir/items.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import { urlOf } from '../../../kit/net/url-of.ts';
import { isPdf } from '../../../web/pdf-text.ts';
import { isTextMedia } from '../../guardrails/texts/protocol-marks.ts';

export type FilePart = Extract<Part, { type: 'file' }>;

/** Media types of PDF files, with or without parameters. */
const PDF_MEDIA = /^application\/(?:x-)?pdf\b/i;

/** Base64 characters at the beginning of a file among which the mark of a PDF stands. */
const HEAD_CHARACTERS = 1400;

/** A file that may be parsed: a PDF, or an address that may lead to one. */
export function isParsable(part: Part): part is FilePart {
  return part.type === 'file' && (part.source.kind === 'url' || isPdfSource(part.source));
}

function isPdfSource(source: Source): boolean {
  if (source.kind !== 'base64') return false;
  return (
    PDF_MEDIA.test(source.mediaType) || isPdf(Buffer.from(source.data.slice(0, HEAD_CHARACTERS), 'base64'))
  );
}

export function parsableFiles({ items }: GenerationRequest): FilePart[] {
  return items.flatMap((item) => contentOf(item).filter(isParsable));
}

export function hasParsableFile({ items }: GenerationRequest): boolean {
  return items.some((item) => contentOf(item).some(isParsable));
}

export function withFilesReplaced(
  request: GenerationRequest,
  replacement: (file: FilePart) => Part,
): GenerationRequest {
  const items = request.items.map((item): Item => {
    if ((item.type !== 'message' && item.type !== 'tool-result') || !item.content.some(isParsable))
      return item;
    return { ...item, content: item.content.map((part) => (isParsable(part) ? replacement(part) : part)) };
  });
  return { ...request, items };
}

/** The files of a request that are neither text nor may be parsed: nothing here can read them. */
export function unreadableFiles({ items }: GenerationRequest): FilePart[] {
  const isFile = (part: Part): part is FilePart => part.type === 'file';
  const files = items.flatMap((item) => contentOf(item).filter(isFile));
  return files.filter((file) => !isTextSource(file.source) && !isParsable(file as Part));
}

function isTextSource(source: Source): boolean {
  return source.kind === 'text' || (source.kind === 'base64' && isTextMedia(source.mediaType));
}

const NO_PARTS: readonly Part[] = [];

function contentOf(item: Item): readonly Part[] {
  return item.type === 'message' || item.type === 'tool-result' ? item.content : NO_PARTS;
}

export function nameOf({ filename, source }: FilePart): string {
  if (filename !== undefined && filename !== '') return filename;
  const path = source.kind === 'url' ? (urlOf(source.url)?.pathname ?? '') : '';
  return path.slice(path.lastIndexOf('/') + 1) || 'document.pdf';
}
