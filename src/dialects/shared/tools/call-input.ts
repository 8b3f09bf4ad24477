import type { ToolCallItem } from '../../../ir/items.ts';
import { isJsonObject, type JsonObject, readJson } from '../../../kit/json/json.ts';
import { callInputPlace, callSealPlace } from '../report/caller-places.ts';
import type { Report } from '../report/report.ts';
import { flatArguments } from './tool-names.ts';

/** The input as an object; undefined when the text is no JSON object. */
export function inputObject(text: string): JsonObject | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return {};
  // Parsing a text that is no JSON throws, which costs as much as parsing some kilobytes.
  if (!trimmed.startsWith('{') || !trimmed.endsWith('}')) return undefined;
  const reading = readJson(text);
  return reading.ok && isJsonObject(reading.value) ? reading.value : undefined;
}

/** The input of a call for dialects that take an object and no seal; tells what of it is changed or lost. */
export function unsealedInput(item: ToolCallItem, report: Report): JsonObject {
  const text = flatArguments(item);
  const input = inputObject(text);
  if (input === undefined) {
    report.coerced(callInputPlace(item, report), 'no JSON object: put into a member "raw" of one');
  }
  if (item.signature !== undefined) {
    const place = callSealPlace(item, report);
    report.dropped(place, 'the seal of a call that another model family made');
  }
  return input ?? { raw: text };
}
