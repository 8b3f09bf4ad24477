import type { ToolCallItem } from '../../../ir/items.ts';
import type { ExactNumbers } from '../../../kit/json/exact-numbers.ts';
import { isJsonObject, type JsonObject, readJson } from '../../../kit/json/json.ts';
import { callInputPlace, callSealPlace } from '../report/caller-places.ts';
import type { Report } from '../report/report.ts';
import { flatArguments } from './tool-names.ts';

const WRAPPED = 'no JSON object: put into a member "raw" of one';

/**
 * The input as an object; undefined if the text is no JSON object. `numbers`: keeps the digits of long numbers, if the
 * object is written with it.
 */
export function inputObject(text: string, numbers: ExactNumbers | undefined): JsonObject | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return {};
  // Parsing invalid JSON throws, which costs as much as parsing some kilobytes.
  if (!trimmed.startsWith('{') || !trimmed.endsWith('}')) return undefined;
  const reading = readJson(text, undefined, numbers);
  return reading.ok && isJsonObject(reading.value) ? reading.value : undefined;
}

/** The input of a call for dialects that take an object. Any other text is wrapped in one, and reported. */
export function objectInput(
  item: ToolCallItem,
  report: Report,
  numbers: ExactNumbers | undefined,
): JsonObject {
  const text = flatArguments(item);
  const input = inputObject(text, numbers);
  if (input !== undefined) return input;
  report.coerced(callInputPlace(item, report), WRAPPED);
  return { raw: text };
}

/**
 * The arguments of a call for dialects that take them as text, some upstreams of which refuse text that is no JSON
 * object. `report`: called if the text was put into one.
 */
export function jsonArguments(text: string, report: (detail: string) => void): string {
  const input = inputObject(text, undefined);
  if (input !== undefined) return text.trim() === '' ? '{}' : text;
  report(WRAPPED);
  return JSON.stringify({ raw: text });
}

/** `objectInput` for dialects that take no seal of a call: a lost one is reported. */
export function unsealedInput(
  item: ToolCallItem,
  report: Report,
  numbers: ExactNumbers | undefined,
): JsonObject {
  const input = objectInput(item, report, numbers);
  if (item.signature !== undefined) {
    report.dropped(callSealPlace(item, report), 'the seal of a call that another model family made');
  }
  return input;
}
