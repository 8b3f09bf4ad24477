import type { JsonObject } from '../../kit/json/json.ts';
import type { FoundItems, OutputItems } from '../../ports/shared/output-items.ts';

/**
 * Output items of several processes: each keeps those that it has sent, and asks the others only for ids that it does
 * not know. Keeping is frequent and finding is rare, so nothing is copied before a request names an item.
 */
export class NeighbouringItems implements OutputItems {
  readonly #own: OutputItems;
  readonly #findElsewhere: OutputItems['find'];

  constructor(own: OutputItems, findElsewhere: OutputItems['find']) {
    this.#own = own;
    this.#findElsewhere = findElsewhere;
  }

  keep(keyHash: string, item: JsonObject): void {
    this.#own.keep(keyHash, item);
  }

  async find(keyHash: string, ids: ReadonlySet<string>): Promise<FoundItems> {
    const found = await this.#own.find(keyHash, ids);
    const missing = new Set([...ids].filter((id) => !found.has(id)));
    if (missing.size === 0) return found;
    return new Map([...found, ...(await this.#findElsewhere(keyHash, missing))]);
  }
}
