import type { DialectName, Ext, ItemStatus } from '../../ir/items.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import { define } from '../gateway-fields.ts';

/** Lenient reading of JSON members: what has another type counts as absent. */

export function stringAt(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === 'string' ? value : undefined;
}

export function numberAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === 'number' ? value : undefined;
}

export function booleanAt(object: JsonObject, key: string): boolean | undefined {
  const value = object[key];
  return typeof value === 'boolean' ? value : undefined;
}

export function objectAt(object: JsonObject, key: string): JsonObject | undefined {
  const value = object[key];
  return isJsonObject(value) ? value : undefined;
}

/** The objects in a list; members of other types are left out. */
export function objectsAt(object: JsonObject, key: string): JsonObject[] {
  return objectsOf(object[key]);
}

export function objectsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The strings in a list; members of other types are left out. */
export function stringsAt(object: JsonObject, key: string): string[] | undefined {
  const value = object[key];
  return Array.isArray(value) ? value.filter((member) => typeof member === 'string') : undefined;
}

const ITEM_STATUSES: ReadonlySet<string> = new Set<ItemStatus>(['in_progress', 'completed', 'incomplete']);

/** The status of an item, where it has one that the representation knows. */
export function statusAt(object: JsonObject): ItemStatus | undefined {
  const status = stringAt(object, 'status');
  return status !== undefined && ITEM_STATUSES.has(status) ? (status as ItemStatus) : undefined;
}

/** What an object holds beyond the fields that are modelled, nulls left out; undefined when there is nothing. */
export function extOf(
  object: JsonObject,
  modelled: ReadonlySet<string>,
  dialect: DialectName = 'responses',
): Ext | undefined {
  let rest: JsonObject | undefined;
  for (const [key, value] of Object.entries(object)) {
    if (value === null || value === undefined || modelled.has(key)) continue;
    rest ??= {};
    define(rest, key, value);
  }
  return rest === undefined ? undefined : { [dialect]: rest };
}

/** The same object without members that are undefined. */
export function compact<T extends object>(object: T): T {
  for (const key of Object.keys(object) as (keyof T)[]) {
    if (object[key] === undefined) delete object[key];
  }
  return object;
}
