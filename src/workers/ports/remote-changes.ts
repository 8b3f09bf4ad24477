import type { Clock } from '../../kit/time/clock.ts';
import type { Change, ChangeListener, Changes } from '../../ports/shared/changes.ts';

export interface RemoteChangesOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Asks the owner to catch up. It answers after it has told of the changes. */
  catchUp(): Promise<void>;
  /** True if no process but the owner changes the store: then nothing can be unknown that the owner has not told. */
  readonly isOwnerOnlyWriter: boolean;
}

/** The owner's changes in a worker, which hears of each as soon as the owner does. */
export class RemoteChanges implements Changes {
  readonly #options: RemoteChangesOptions;
  readonly #listeners = new Set<ChangeListener>();
  #seenUntilMs = 0;

  constructor(options: RemoteChangesOptions) {
    this.#options = options;
  }

  /** Delivers a change that the owner has told. */
  publish(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }

  subscribe(listener: ChangeListener): () => void {
    const added: ChangeListener = (change) => listener(change);
    this.#listeners.add(added);
    return () => void this.#listeners.delete(added);
  }

  seenUntilMs(): number {
    const { isOwnerOnlyWriter, clock } = this.#options;
    return isOwnerOnlyWriter ? clock.monotonic() : this.#seenUntilMs;
  }

  catchUp(): Promise<void> {
    return this.#options.catchUp();
  }

  /** The owner has told of all changes up to so many milliseconds ago. */
  noteSeen(ageMs: number): void {
    this.#seenUntilMs = Math.max(this.#seenUntilMs, this.#options.clock.monotonic() - ageMs);
  }
}
