import { lookUp } from '../../../kit/collections/lookup.ts';
import type { JsonObject } from '../../../kit/json/json.ts';

/** How a model reads a file. */
export type FileKind = 'image' | 'document' | 'audio' | 'text';

/** A file with its content, as it is written into a request. */
export interface InlineFile {
  readonly filename: string;
  readonly mediaType: string;
  readonly kind: FileKind;
  /** Text as it is, everything else as a data URL. */
  readonly content: string;
}

/** Kinds by media type; everything else is a document. */
const KINDS: Readonly<Record<string, FileKind>> = {
  'image/png': 'image',
  'image/jpeg': 'image',
  'image/gif': 'image',
  'image/webp': 'image',
  'audio/mpeg': 'audio',
  'audio/wav': 'audio',
  'audio/flac': 'audio',
  'audio/ogg': 'audio',
  'text/plain': 'text',
  'text/markdown': 'text',
  'text/csv': 'text',
  'application/json': 'text',
  'application/x-ndjson': 'text',
};

export function kindOf(mediaType: string): FileKind {
  return lookUp(KINDS, mediaType) ?? 'document';
}

export function dataUrlHead(mediaType: string): string {
  return `data:${mediaType};base64,`;
}

/**
 * The bytes of a file that is no text. A slice of the data URL: copying tens of megabytes would block the event loop.
 */
export function base64OfFile({ mediaType, content }: InlineFile): string {
  return content.slice(dataUrlHead(mediaType).length);
}

/** A text file as plain text: its name on the first line, then its content. */
export function headedText(filename: string, { content }: InlineFile): string {
  return `${filename}\n${content}`;
}

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/flac': 'flac',
  'audio/ogg': 'ogg',
};

/** Audio as the responses and chat formats write it. */
export function inputAudioOf(file: InlineFile): JsonObject {
  return { data: base64OfFile(file), format: lookUp(AUDIO_FORMATS, file.mediaType) ?? file.mediaType };
}
