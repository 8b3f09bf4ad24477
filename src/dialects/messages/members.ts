import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import { define } from '../gateway-fields.ts';

/** Lenient reading of JSON members: what has another type counts as absent. */

/** The value if it is an object, else an empty one. */
export function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The members that are neither modelled nor null. */
export function membersBeyond(value: JsonObject, modelled: ReadonlySet<string>): JsonObject {
  const rest: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (!modelled.has(key) && member !== null && member !== undefined) define(rest, key, member);
  }
  return rest;
}
