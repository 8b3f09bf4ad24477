import type { Source } from '../../ir/items.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';

/**
 * Images that a model made. Answers of this format have no block for them, so they go out as text: a Markdown image whose
 * address holds the bytes. In a later turn such a text is known again for the image that it is.
 */

const OPENING = '![image](';
const HEAD = /^!\[image\]\(data:(image\/[\w.+-]+);base64,/;

/** No head is longer. */
const LONGEST_HEAD = 128;

/** The text block of an image; undefined when its bytes and address are unknown. */
export function imageTextBlock(source: Source): JsonObject | undefined {
  const address = addressOf(source);
  return address === undefined ? undefined : { type: 'text', text: `${OPENING}${address})`, citations: [] };
}

function addressOf(source: Source): string | undefined {
  switch (source.kind) {
    case 'base64':
      return `data:${source.mediaType};base64,${source.data}`;
    case 'url':
      return source.url;
    default:
      return undefined;
  }
}

/** The image that such a text holds; undefined for every other text, addresses of images on the web among them. */
export function imageInText(text: Json | undefined): Source | undefined {
  if (typeof text !== 'string' || !text.startsWith(OPENING)) return undefined;
  const [head = '', mediaType] = HEAD.exec(text.slice(0, LONGEST_HEAD)) ?? [];
  const end = text.length - 1;
  // Bytes may be many: they are searched for what ends them early, not looked at one by one.
  const isWhole = end > head.length && text.indexOf(')') === end && !text.includes(' ');
  return mediaType === undefined || !isWhole
    ? undefined
    : { kind: 'base64', mediaType, data: text.slice(head.length, end) };
}

/** An upstream's image block as callers may see it. */
export function imageBlockAsText(block: JsonObject): JsonObject {
  const source = imageInBlock(block);
  return (source && imageTextBlock(source)) ?? { type: 'text', text: '', citations: [] };
}

/** Where an image block of an upstream has its bytes. Some send such blocks although the format has none. */
export function imageInBlock(block: JsonObject): Source | undefined {
  const source = isJsonObject(block.source) ? block.source : {};
  if (typeof source.data === 'string' && typeof source.media_type === 'string') {
    return { kind: 'base64', mediaType: source.media_type, data: source.data };
  }
  return typeof source.url === 'string' ? { kind: 'url', url: source.url } : undefined;
}
