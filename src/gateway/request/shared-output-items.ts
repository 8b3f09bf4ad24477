import type { JsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';
import { stringifySliced } from '../../kit/json/stringify-sliced.ts';
import { runInTurns } from '../../kit/loop/turns.ts';
import type { FoundItems, OutputItems } from '../../ports/shared/output-items.ts';

export interface SharedItemStore {
  keep(keyHash: string, id: string, text: string): Promise<void>;
  find(keyHash: string, ids: ReadonlySet<string>): Promise<FoundItems>;
}

export interface SharedItemDependencies {
  readonly own: OutputItems;
  readonly shared: SharedItemStore;
  /** Asks the store; rejects while it does not answer. */
  ask<T>(work: () => Promise<T>): Promise<T>;
  /** False = nothing is kept. */
  isKept(): boolean;
}

/** Output items of this process and, where it does not have them, those of the others, as far as the store answers. */
export class SharedOutputItems implements OutputItems {
  readonly #dependencies: SharedItemDependencies;

  constructor(dependencies: SharedItemDependencies) {
    this.#dependencies = dependencies;
  }

  keep(keyHash: string, item: JsonObject): void {
    const { own, isKept } = this.#dependencies;
    own.keep(keyHash, item);
    const id = stringAt(item, 'id');
    if (id !== undefined && isKept()) void this.#share(keyHash, id, item).catch(() => {});
  }

  async find(keyHash: string, ids: ReadonlySet<string>): Promise<FoundItems> {
    const { own, shared, ask } = this.#dependencies;
    const found = await own.find(keyHash, ids);
    const missing = new Set([...ids].filter((id) => !found.has(id)));
    if (missing.size === 0) return found;
    const elsewhere = await ask(() => shared.find(keyHash, missing)).catch(() => NONE);
    return elsewhere.size === 0 ? found : new Map([...found, ...elsewhere]);
  }

  async #share(keyHash: string, id: string, item: JsonObject): Promise<void> {
    const { shared, ask } = this.#dependencies;
    const pieces = await runInTurns(stringifySliced(item));
    await ask(() => shared.keep(keyHash, id, pieces.join('')));
  }
}

const NONE: FoundItems = new Map();
