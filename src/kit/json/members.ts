import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** Lenient reading of JSON objects of unchecked shape: a member of another type counts as absent. */

export function stringAt(object: JsonObject | undefined, key: string): string | undefined {
  const value = object?.[key];
  return typeof value === 'string' ? value : undefined;
}

/** A member that is a non-empty string. */
export function textAt(object: JsonObject | undefined, key: string): string | undefined {
  const value = stringAt(object, key);
  return value === '' ? undefined : value;
}

export function numberAt(object: JsonObject | undefined, key: string): number | undefined {
  const value = object?.[key];
  return typeof value === 'number' ? value : undefined;
}

export function booleanAt(object: JsonObject | undefined, key: string): boolean | undefined {
  const value = object?.[key];
  return typeof value === 'boolean' ? value : undefined;
}

export function objectAt(object: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = object?.[key];
  return isJsonObject(value) ? value : undefined;
}

/** The objects in a member that is a list; members of other types are left out. */
export function objectsAt(object: JsonObject | undefined, key: string): JsonObject[] {
  return objectsOf(object?.[key]);
}

export function objectsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The value if it is an object, else an empty one. */
export function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The strings in a member that is a list; members of other types are left out. */
export function stringsAt(object: JsonObject | undefined, key: string): string[] | undefined {
  const value = object?.[key];
  return Array.isArray(value) ? value.filter((member) => typeof member === 'string') : undefined;
}

/** The members that are neither null nor among `known`; undefined when none is left. */
export function membersBeyond(object: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let rest: JsonObject | undefined;
  for (const key in object) {
    if (known.has(key)) continue;
    const value = object[key];
    if (value === null || value === undefined) continue;
    rest ??= {};
    define(rest, key, value);
  }
  return rest;
}

/** Members that are not null: null means absent everywhere in a request. */
export function withoutNulls(object: JsonObject): JsonObject {
  for (const key in object) {
    if (object[key] === null || object[key] === undefined) return membersBeyond(object, NOTHING) ?? {};
  }
  return object;
}

const NOTHING: ReadonlySet<string> = new Set();

/** Sets an own key whatever its name: assignment to `__proto__` would change the prototype instead. */
export function define(target: JsonObject, key: string, value: Json): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Copies all members into an object, `__proto__` included. */
export function defineAll(target: JsonObject, members: JsonObject): void {
  for (const key of Object.keys(members)) define(target, key, members[key] as Json);
}

/**
 * The object without undefined members, so that equal objects are deeply equal however they were made. Copies instead
 * of deleting, because V8 makes an object with deleted members slow.
 */
export function compact<const T extends object>(object: T): Compact<T> {
  for (const key in object) {
    if (object[key] === undefined) return withoutUndefined(object) as unknown as Compact<T>;
  }
  return object as unknown as Compact<T>;
}

/** The members that may be undefined are optional, and there only with a value. */
export type Compact<T> = T extends unknown
  ? Flat<
      { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
        [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
      }
    >
  : never;

type Flat<T> = { [K in keyof T]: T[K] };

function withoutUndefined<T extends object>(object: T): T {
  const kept = {} as T & JsonObject;
  for (const key in object) {
    const value = object[key];
    if (value !== undefined) define(kept, key, value as Json);
  }
  return kept;
}
