import { isJsonObject, type JsonObject } from '../../kit/json.ts';
import { define } from '../gateway-fields.ts';

/** Readers of single members of a JSON object whose shape nobody vouches for. */

/** A member that is a string with something in it. */
export function textIn(object: JsonObject | undefined, name: string): string | undefined {
  const value = object?.[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function objectIn(object: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = object?.[name];
  return isJsonObject(value) ? value : undefined;
}

/** The objects in a member that is a list; none when it is no list. */
export function objectsIn(object: JsonObject | undefined, name: string): JsonObject[] {
  const value = object?.[name];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function numberIn(object: JsonObject | undefined, name: string): number | undefined {
  const value = object?.[name];
  return typeof value === 'number' ? value : undefined;
}

export function flagIn(object: JsonObject | undefined, name: string): boolean | undefined {
  const value = object?.[name];
  return typeof value === 'boolean' ? value : undefined;
}

/** The members that are neither null nor among `known`; undefined when none is left. */
export function membersBesides(object: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let rest: JsonObject | undefined;
  for (const [name, value] of Object.entries(object)) {
    if (value === null || value === undefined || known.has(name)) continue;
    rest ??= {};
    define(rest, name, value);
  }
  return rest;
}
