import type { Source } from '../../../ir/items.ts';

/** The part before the bytes. The media type may have parameters, or be missing. */
const HEAD = /^data:([^,]*);base64,/i;

/** Characters that are searched for the head: the bytes after it may have millions. */
const MAX_HEAD_CHARACTERS = 256;

/** The bytes in a base64 data URL; undefined if a text is none. Its head is case-insensitive. */
export function parseDataUrl(text: string): Extract<Source, { kind: 'base64' }> | undefined {
  const head = HEAD.exec(text.slice(0, MAX_HEAD_CHARACTERS));
  if (head === null) return undefined;
  const [before, mediaType = ''] = head;
  return { kind: 'base64', mediaType: mediaType.toLowerCase(), data: text.slice(before.length) };
}

/** Writes a source as an address or a data URL; undefined if it has neither. */
export function renderUrl(source: Source): string | undefined {
  switch (source.kind) {
    case 'url':
      return source.url;
    case 'base64':
      return `data:${source.mediaType};base64,${source.data}`;
    case 'text':
      return `data:${source.mediaType};base64,${Buffer.from(source.text).toString('base64')}`;
    case 'file-id':
      return undefined;
  }
}
