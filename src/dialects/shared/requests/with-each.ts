import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';

/** Maps the objects of `body[list]`; returns `body` if none changed. */
export function withEach(
  object: JsonObject,
  field: string,
  change: (member: JsonObject, index: number) => JsonObject,
): JsonObject {
  const list = object[field];
  if (!Array.isArray(list)) return object;
  let changed: Json[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const member = list[index];
    if (!isJsonObject(member)) continue;
    const next = change(member, index);
    if (next === member) continue;
    changed ??= [...list];
    changed[index] = next;
  }
  return changed === undefined ? object : { ...object, [field]: changed };
}
