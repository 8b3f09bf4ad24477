import type { Json, JsonObject } from '../../../kit/json/json.ts';

/** A list of a body; empty if it is none. */
export function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

export function systemMessage(content: Json | undefined): JsonObject[] {
  return content === undefined || content === null ? [] : [{ role: 'system', content }];
}
