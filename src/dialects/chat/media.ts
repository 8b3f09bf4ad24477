import type { Source } from '../../ir/items.ts';
import { parseDataUrl } from '../shared/media/data-url.ts';

/** The chat format names images and files by one string: an address or a data URL. */

/** Reads an address or a data URL. */
export function parseUrl(url: string): Source {
  return parseDataUrl(url) ?? { kind: 'url', url };
}

/** Matches the beginning of an address, and no base64. */
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Reads `file_data`, which may also be base64 without a media type. */
export function parseFileData(text: string, filename: string | undefined): Source {
  if (SCHEME.test(text)) return parseUrl(text);
  const isPdf = filename === undefined || filename.toLowerCase().endsWith('.pdf');
  return { kind: 'base64', mediaType: isPdf ? 'application/pdf' : 'application/octet-stream', data: text };
}
