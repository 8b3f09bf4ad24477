import type { JsonObject } from '../../../kit/json/json.ts';

/** A place of a body that names an output item of an earlier answer instead of sending the item. */
export interface ItemReference {
  readonly id: string;
  /** Of the id, in the caller's body. */
  readonly path: string;
}

/** How requests of one format name output items of earlier answers. */
export interface ItemReferences {
  /** The references in a body, in order; none in nearly all bodies. */
  find(body: JsonObject): readonly ItemReference[];
  /** Puts items where the body names them. References to ids that are not in `items` stay. */
  replace(body: JsonObject, items: ReadonlyMap<string, JsonObject>): JsonObject;
}
