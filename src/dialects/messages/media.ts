import type { Source } from '../../ir/items.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { renderUrl } from '../shared/media/data-url.ts';

/**
 * Images that a model made. Answers of this format have no block for them, so they are written as text: a Markdown
 * image with a data URL. In a later turn such a text is recognized as the image.
 */

const OPENING = '![image](';
const HEAD = /^!\[image\]\(data:(image\/[\w.+-]+);base64,/;

/** Characters that are searched for the head of such a text. */
const MAX_HEAD_CHARACTERS = 128;

/** The text block of an image; undefined if it has neither bytes nor address. */
export function imageTextBlock(source: Source): JsonObject | undefined {
  const address = renderUrl(source);
  return address === undefined ? undefined : { type: 'text', text: `${OPENING}${address})`, citations: [] };
}

/** The image in such a text; undefined for every other text, also one with the address of an image on the web. */
export function imageInText(text: Json | undefined): Source | undefined {
  if (typeof text !== 'string' || !text.startsWith(OPENING)) return undefined;
  const [head = '', mediaType] = HEAD.exec(text.slice(0, MAX_HEAD_CHARACTERS)) ?? [];
  const end = text.length - 1;
  // There may be many bytes: search for characters that end them early instead of matching all.
  const isWhole = end > head.length && text.indexOf(')') === end && !text.includes(' ');
  return mediaType === undefined || !isWhole
    ? undefined
    : { kind: 'base64', mediaType, data: text.slice(head.length, end) };
}

export function imageBlockAsText(block: JsonObject): JsonObject {
  const source = imageInBlock(block);
  return (source && imageTextBlock(source)) ?? { type: 'text', text: '', citations: [] };
}

/** The bytes of an upstream's image block. Some send such blocks although the format has none. */
export function imageInBlock(block: JsonObject): Source | undefined {
  const source = isJsonObject(block.source) ? block.source : {};
  if (typeof source.data === 'string' && typeof source.media_type === 'string') {
    return { kind: 'base64', mediaType: source.media_type, data: source.data };
  }
  return typeof source.url === 'string' ? { kind: 'url', url: source.url } : undefined;
}
