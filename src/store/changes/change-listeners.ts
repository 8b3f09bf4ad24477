import type { Change, ChangeListener } from '../../ports/shared/changes.ts';

export class ChangeListeners {
  readonly #listeners = new Set<ChangeListener>();

  deliver(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }

  /** Returns a function that ends the subscription. */
  add(listener: ChangeListener): () => void {
    // A function of its own, so that the same listener can be added twice.
    const added: ChangeListener = (change) => listener(change);
    this.#listeners.add(added);
    return () => void this.#listeners.delete(added);
  }
}
