import type { JsonObject } from '../../../kit/json/json.ts';
import { keptText } from '../../../kit/text/kept-text.ts';

/** What is kept of a generation as JSON. The journal writes it, and its row soon after: it is made once, so it may not change. */
export function rowText(row: JsonObject): string {
  return keptText(row, JSON.stringify);
}
