import type { JsonObject } from '../../../kit/json/json.ts';

export interface ItemReference {
  readonly id: string;
  readonly path: string;
}

/** How requests of one format refer to output items of earlier answers. */
export interface ItemReferences {
  /** The references in a body, in order; none in nearly all bodies. */
  find(body: JsonObject): readonly ItemReference[];
  /** Replaces references by items. References to ids that are not in `items` stay. */
  replace(body: JsonObject, items: ReadonlyMap<string, JsonObject>): JsonObject;
  /** Ids of items that show a call of a server tool, in order: they hold less than the model got. */
  shownCalls(body: JsonObject): readonly string[];
  /** Adds what the model got to those items whose kept form has it. */
  complete(body: JsonObject, items: ReadonlyMap<string, JsonObject>): JsonObject;
}
