import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';

/** Mark of a message that a preset made. No JSON key, so that neither the wire nor a comparison ever sees it. */
const FROM_PRESET = Symbol('from a preset');

/** A system message that the caller did not write. */
export function presetMessage(content: string): JsonObject {
  return Object.defineProperty<JsonObject>({ role: 'system', content }, FROM_PRESET, { value: true });
}

/** Where a message stands in the list that the caller wrote: one that a preset put before it is not counted. */
export function messageIndex(messages: readonly Json[], index: number): number {
  const first = messages[0];
  return isJsonObject(first) && FROM_PRESET in first ? index - 1 : index;
}
