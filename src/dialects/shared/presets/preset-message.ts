import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';

/** Mark of a message from a preset. A symbol, so that neither JSON nor a comparison sees it. */
const FROM_PRESET = Symbol('from a preset');

/** A system message that the caller did not write. */
export function presetMessage(content: string): JsonObject {
  return Object.defineProperty<JsonObject>({ role: 'system', content }, FROM_PRESET, { value: true });
}

/** Index of a message in the caller's own list, without messages that a preset added before it. */
export function messageIndex(messages: readonly Json[], index: number): number {
  const first = messages[0];
  return isJsonObject(first) && FROM_PRESET in first ? index - 1 : index;
}
