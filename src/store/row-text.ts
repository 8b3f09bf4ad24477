import type { JsonObject } from '../kit/json.ts';

/** By row. */
const texts = new WeakMap<JsonObject, string>();

/** What is kept of a generation as JSON. The journal writes it, and its row soon after: it is made once, so it may not change. */
export function rowText(row: JsonObject): string {
  let text = texts.get(row);
  if (text === undefined) {
    text = JSON.stringify(row);
    texts.set(row, text);
  }
  return text;
}
