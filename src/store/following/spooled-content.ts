import { isJsonObject, type JsonObject, readJson } from '../../kit/json/json.ts';
import type { StoredContent } from '../../ports/content/content.ts';
import { decodeContent, encodeContent } from '../content/content-codec.ts';

/** Content of at most so many characters stays as it is: compressing and decompressing it costs more than its room. */
const PLAIN_CHARACTERS = 32 * 1024;

/** What the rows of plain contents begin with, which Base64 does not. */
const PLAIN = '{';

/** Content as its row holds it: JSON, or if it is large, a compressed file in Base64. */
export async function textOfContent(stored: StoredContent, characters: number): Promise<string> {
  if (characters <= PLAIN_CHARACTERS) return JSON.stringify(stored);
  return (await encodeContent(stored)).toString('base64');
}

/** Undefined if it is damaged. */
export async function contentOfText(text: string): Promise<StoredContent | undefined> {
  if (!text.startsWith(PLAIN)) return decodeContent(Buffer.from(text, 'base64'));
  const reading = readJson(text);
  if (!reading.ok || !isJsonObject(reading.value)) return undefined;
  return reading.value as JsonObject & StoredContent;
}
