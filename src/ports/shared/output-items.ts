import type { JsonObject } from '../../kit/json/json.ts';

/** Output items by id, each as the JSON text that its caller was sent. */
export type FoundItems = ReadonlyMap<string, string>;

/** Output items that API keys were given in the last hour, so that later requests can name them by id. */
export interface OutputItems {
  /** Keeps an item for the key that was given it; an item without an id is not kept. Must not throw. */
  keep(keyHash: string, item: JsonObject): void;
  /** The items that this key was given under these ids. An id is absent if it is unknown, expired or another key's. */
  find(keyHash: string, ids: ReadonlySet<string>): Promise<FoundItems>;
}
