import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { isOneSlice, Pace, type Sliced } from '../../kit/loop/turns.ts';

type Change = (member: JsonObject, index: number) => JsonObject;

/** The object with the objects of a list in it changed one by one; the very same object where none is. */
export function* withEachSliced(object: JsonObject, field: string, change: Change): Sliced<JsonObject> {
  const list = object[field];
  if (!Array.isArray(list) || isOneSlice(list)) return withEach(object, field, change);
  const pace = new Pace();
  const changed = new ChangedList(list, change);
  for (let index = 0; index < list.length; index++) {
    if (pace.tick()) yield;
    changed.visit(index);
  }
  return changed.in(object, field);
}

/** The same in one go, for short lists and for lists inside lists. */
export function withEach(object: JsonObject, field: string, change: Change): JsonObject {
  const list = object[field];
  if (!Array.isArray(list) || list.length === 0) return object;
  const changed = new ChangedList(list, change);
  for (let index = 0; index < list.length; index++) changed.visit(index);
  return changed.in(object, field);
}

/** A list while its members are changed: copied with the first that is. */
class ChangedList {
  readonly #list: readonly Json[];
  readonly #change: Change;
  #changed: Json[] | undefined;

  constructor(list: readonly Json[], change: Change) {
    this.#list = list;
    this.#change = change;
  }

  visit(index: number): void {
    const member = this.#list[index];
    if (!isJsonObject(member)) return;
    const next = this.#change(member, index);
    if (next === member) return;
    this.#changed ??= [...this.#list];
    this.#changed[index] = next;
  }

  in(object: JsonObject, field: string): JsonObject {
    return this.#changed === undefined ? object : { ...object, [field]: this.#changed };
  }
}
