import type { Source } from '../../../ir/items.ts';

/** What stands before the bytes. Their media type may have parameters, or be missing. */
const HEAD = /^data:([^,]*);base64,/i;

/** Longer heads are not looked for: the bytes behind them may have millions of characters. */
const LONGEST_HEAD = 256;

/** The bytes in a base64 data URL; undefined when a text is none. Case does not matter in its head. */
export function parseDataUrl(text: string): Extract<Source, { kind: 'base64' }> | undefined {
  const head = HEAD.exec(text.slice(0, LONGEST_HEAD));
  if (head === null) return undefined;
  const [before, mediaType = ''] = head;
  return { kind: 'base64', mediaType: mediaType.toLowerCase(), data: text.slice(before.length) };
}

/** Writes a source as an address or a data URL; undefined when it has neither. */
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
