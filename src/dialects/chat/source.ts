import type { Source } from '../../ir/items.ts';

/** The chat format names images and files by one string: an address, or the bytes themselves as a data URL. */

const BASE64_MARK = ';base64,';

/** Reads an address or a data URL. */
export function parseUrl(url: string): Source {
  const mark = url.startsWith('data:') ? url.indexOf(BASE64_MARK) : -1;
  if (mark === -1) return { kind: 'url', url };
  return {
    kind: 'base64',
    mediaType: url.slice('data:'.length, mark),
    data: url.slice(mark + BASE64_MARK.length),
  };
}

/** Reads `file_data`, which may also be base64 without its media type. */
export function parseFileData(text: string, filename: string | undefined): Source {
  if (text.startsWith('data:') || /^https?:\/\//i.test(text)) return parseUrl(text);
  const isPdf = filename === undefined || filename.toLowerCase().endsWith('.pdf');
  return { kind: 'base64', mediaType: isPdf ? 'application/pdf' : 'application/octet-stream', data: text };
}

/** Writes a source as an address or a data URL; undefined when it has neither. */
export function renderUrl(source: Source): string | undefined {
  switch (source.kind) {
    case 'url':
      return source.url;
    case 'base64':
      return `data:${source.mediaType}${BASE64_MARK}${source.data}`;
    case 'text':
      return `data:${source.mediaType}${BASE64_MARK}${Buffer.from(source.text).toString('base64')}`;
    case 'file-id':
      return undefined;
  }
}
