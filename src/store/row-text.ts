import type { JsonObject } from '../kit/json.ts';

/** By row. */
const texts = new WeakMap<JsonObject, string>();

/** What is kept of a generation as JSON. The journal writes it, and its row soon after: it is made once, so it may not change. */
export function rowText(row: JsonObject): string {
  let text = texts.get(row);
  if (text === undefined) {
    text = inOnePlace(JSON.stringify(row));
    texts.set(row, text);
  }
  return text;
}

/** V8 makes such a text of pieces, and joins them in old memory when it is looked at late. To ask for its length joins them now. */
function inOnePlace(text: string): string {
  Buffer.byteLength(text);
  return text;
}
