import type { Clock } from '../../../src/kit/time/clock.ts';
import type { Change, ChangeListener, Changes } from '../../../src/ports/shared/changes.ts';
import { ChangeListeners } from '../../../src/store/changes/change-listeners.ts';

/** Changes of a store that others write too, read only when the test or `catchUp` says so. */
export class HandChanges implements Changes {
  /** The store does not answer. */
  isAway = false;
  /** How often the store was asked. */
  questions = 0;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #listeners = new ChangeListeners();
  #stored: Change[] = [];
  #seenUntilMs: number;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#seenUntilMs = clock.monotonic();
  }

  /** Another process has made a change. */
  store(change: Change): void {
    this.#stored.push(change);
  }

  publish(change: Change): void {
    this.#listeners.deliver(change);
  }

  subscribe(listener: ChangeListener): () => void {
    return this.#listeners.add(listener);
  }

  seenUntilMs(): number {
    return this.#seenUntilMs;
  }

  async catchUp(): Promise<void> {
    this.questions++;
    if (this.isAway) throw new Error('away');
    const stored = this.#stored;
    this.#stored = [];
    for (const change of stored) this.#listeners.deliver(change);
    this.#seenUntilMs = this.#clock.monotonic();
  }
}
