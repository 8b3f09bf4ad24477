interface Waiting {
  readonly key: string;
  enter(): void;
}

/**
 * A semaphore with `most` places, of which one key may hold `mostOfOne` at a time. Waiting work is admitted in order of
 * arrival, skipping keys that hold all their places.
 */
export class FairPlaces {
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #count = 0;

  constructor(most: number, mostOfOne: number) {
    this.#most = most;
    this.#mostOfOne = mostOfOne;
  }

  /** Runs work in a place. Rejects with the signal's reason if it is aborted while waiting. */
  async within<T>(key: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    await this.#enter(key, signal);
    try {
      return await work();
    } finally {
      this.#leave(key);
    }
  }

  async #enter(key: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#hasRoom(key)) {
      this.#take(key);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const giveUp = () => {
        this.#waiting.delete(waiting);
        reject(signal?.reason);
      };
      const waiting: Waiting = {
        key,
        enter: () => {
          signal?.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(waiting);
    });
  }

  #hasRoom(key: string): boolean {
    return this.#count < this.#most && (this.#taken.get(key) ?? 0) < this.#mostOfOne;
  }

  #take(key: string): void {
    this.#count += 1;
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
  }

  #leave(key: string): void {
    this.#count -= 1;
    const left = (this.#taken.get(key) ?? 0) - 1;
    if (left > 0) this.#taken.set(key, left);
    else this.#taken.delete(key);
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.key)) continue;
      this.#waiting.delete(waiting);
      this.#take(waiting.key);
      waiting.enter();
    }
  }
}
