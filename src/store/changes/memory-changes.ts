import type { Clock } from '../../kit/time/clock.ts';
import type { Change, ChangeListener, Changes } from '../../ports/shared/changes.ts';
import { ChangeListeners } from './change-listeners.ts';

/** Changes of a store that only this process writes: all of them are known at once. */
export class MemoryChanges implements Changes {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #listeners = new ChangeListeners();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  publish(change: Change): void {
    this.#listeners.deliver(change);
  }

  subscribe(listener: ChangeListener): () => void {
    return this.#listeners.add(listener);
  }

  seenUntilMs(): number {
    return this.#clock.monotonic();
  }

  async catchUp(): Promise<void> {}
}
