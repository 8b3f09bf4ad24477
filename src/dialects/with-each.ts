import { isJsonObject, type JsonObject } from '../kit/json.ts';
import { Pace, runAtOnce, type Sliced } from '../kit/turns.ts';

type Change = (member: JsonObject, index: number) => JsonObject;

/** The object with the objects of a list in it changed one by one; the very same object where none is. */
export function* withEachSliced(object: JsonObject, field: string, change: Change): Sliced<JsonObject> {
  const list = object[field];
  if (!Array.isArray(list)) return object;
  const pace = new Pace();
  let changed: typeof list | undefined;
  for (const [index, member] of list.entries()) {
    if (pace.tick()) yield;
    if (!isJsonObject(member)) continue;
    const next = change(member, index);
    if (next === member) continue;
    changed ??= [...list];
    changed[index] = next;
  }
  return changed === undefined ? object : { ...object, [field]: changed };
}

/** The same in one go, for lists inside lists. */
export function withEach(object: JsonObject, field: string, change: Change): JsonObject {
  return runAtOnce(withEachSliced(object, field, change));
}
