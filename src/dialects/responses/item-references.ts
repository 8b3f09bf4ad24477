import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';
import type { ItemReference, ItemReferences } from '../shared/requests/item-references.ts';
import { withEach } from '../shared/requests/with-each.ts';
import { inputPlace } from './input-place.ts';

/** `item_reference` items of `input`. */
export const itemReferences: ItemReferences = { find, replace };

/** What a reference says that could not be replaced. */
export const UNKNOWN_REFERENCE =
  'names no output item that this key was given within the last hour: send the item itself (store: false)';

/** Every reference in a list of items, with its place. */
export function referencesIn(body: JsonObject, input: readonly Json[]): readonly ItemReference[] {
  let found: ItemReference[] | undefined;
  for (let index = 0; index < input.length; index++) {
    const id = referencedId(input[index]);
    if (id === undefined) continue;
    found ??= [];
    found.push({ id, path: `${inputPlace(body, index)}.id` });
  }
  return found ?? NO_REFERENCES;
}

const NO_REFERENCES: readonly ItemReference[] = [];

function find(body: JsonObject): readonly ItemReference[] {
  return Array.isArray(body.input) ? referencesIn(body, body.input) : NO_REFERENCES;
}

/** An item that is named twice is copied: calls and results are paired by identity. */
function replace(body: JsonObject, items: ReadonlyMap<string, JsonObject>): JsonObject {
  return withEach(body, 'input', (item) => {
    const id = referencedId(item);
    const named = id === undefined ? undefined : items.get(id);
    return named === undefined ? item : { ...named };
  });
}

function referencedId(item: Json | undefined): string | undefined {
  return isJsonObject(item) && item.type === 'item_reference' ? (stringAt(item, 'id') ?? '') : undefined;
}
