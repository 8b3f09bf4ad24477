import type { Source } from '../../ir/items.ts';
import { lookUp } from '../../kit/collections/lookup.ts';

/** Images and files in this format: an address, a data URL, or an id. */

const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*;base64,/i;

/** Media types of bare base64 files, by file extension. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
};

const UNKNOWN_MEDIA_TYPE = 'application/octet-stream';

/** An address or a base64 data URL. */
export function parseUrl(url: string): Source {
  const head = DATA_URL.exec(url.slice(0, 256));
  if (head === null) return { kind: 'url', url };
  return { kind: 'base64', mediaType: (head[1] ?? '').toLowerCase(), data: url.slice(head[0].length) };
}

/** The content of a file: a data URL, or bare base64 whose type the file name gives. */
export function parseFileData(data: string, filename: string | undefined): Source {
  if (/^data:/i.test(data)) return parseUrl(data);
  const extension = filename?.split('.').pop()?.toLowerCase() ?? '';
  return { kind: 'base64', mediaType: lookUp(MEDIA_TYPES, extension) ?? UNKNOWN_MEDIA_TYPE, data };
}

/** A file name for content without one. */
export function filenameFor(mediaType: string): string {
  const extension = Object.keys(MEDIA_TYPES).find((name) => MEDIA_TYPES[name] === mediaType);
  return extension === undefined ? 'file' : `file.${extension}`;
}
