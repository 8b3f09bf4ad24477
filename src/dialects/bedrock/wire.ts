import type { JsonObject } from '../../kit/json/json.ts';

/** Shapes and limits of the Converse interface. A block is an object with one member, whose name gives its kind. */

// --- Content parts --------------------------------------------------------------------------------------------------

export function textBlock(text: string): JsonObject {
  return { text };
}

export const IMAGE_FORMATS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

/** Document formats by their media type. Other kinds of text are sent as plain text. */
export const DOCUMENT_FORMATS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
};

export const VIDEO_FORMATS: Readonly<Record<string, string>> = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/x-flv': 'flv',
  'video/mpeg': 'mpeg',
  'video/x-ms-wmv': 'wmv',
  'video/3gpp': 'three_gp',
};

export const AUDIO_FORMATS: ReadonlySet<string> = new Set([
  'mp3',
  'opus',
  'wav',
  'aac',
  'flac',
  'mp4',
  'ogg',
  'mkv',
  'mka',
  'x-aac',
  'm4a',
  'mpeg',
  'mpga',
  'pcm',
  'webm',
]);

// --- Messages -------------------------------------------------------------------------------------------------------

/** Role of a turn. System prompts are outside the turns. */
export type WireRole = 'user' | 'assistant';

/** Role that a block is rendered for. */
export type Speaker = WireRole | 'system';

// --- Limits ---------------------------------------------------------------------------------------------------------

/** Longest id of a tool call; names of tools have the same limit. */
export const MAX_ID_CHARACTERS = 64;

export const MAX_DOCUMENT_NAME_CHARACTERS = 200;

/** Cache points that one request may hold. */
export const MAX_CACHE_POINTS = 4;

export const MAX_LABELS = 16;
export const LABEL_NAME = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/;
export const LABEL_VALUE = /^[a-zA-Z0-9\s:_@$#=/+,.-]{0,256}$/;

// --- Answers --------------------------------------------------------------------------------------------------------

/** Stream events, by the name in the frame or the member that wraps the payload. */
export const STREAM_EVENTS: ReadonlySet<string> = new Set([
  'messageStart',
  'contentBlockStart',
  'contentBlockDelta',
  'contentBlockStop',
  'messageStop',
  'metadata',
]);
