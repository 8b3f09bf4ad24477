/** Who takes a place: a group, and one of its members. A string is a group of one. */
export type PlaceOwner = string | { readonly group: string; readonly member: string };

interface Waiting {
  readonly group: string;
  readonly member: string;
  enter(): void;
}

/**
 * A semaphore with `most` places, of which one group may hold `mostOfOne` at a time. Waiting groups are admitted in
 * order of arrival, skipping those that hold all their places. Within a group the member goes first whose last turn is
 * the longest ago: one with much work does not keep the others waiting. For places of different size take
 * `MemoryBudget`; for the elements of one list, `mapAtOnce`.
 */
export class FairPlaces {
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  /** Number of the last turn of members, by group, as long as the group holds a place or waits. */
  readonly #turns = new Map<string, Map<string, number>>();
  #turn = 0;
  #count = 0;

  constructor(most: number, mostOfOne: number) {
    this.#most = most;
    this.#mostOfOne = mostOfOne;
  }

  /** Runs work in a place. Rejects with the signal's reason if it is aborted while waiting. */
  async within<T>(owner: PlaceOwner, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const { group, member } = typeof owner === 'string' ? { group: owner, member: '' } : owner;
    await this.#enter(group, member, signal);
    try {
      return await work();
    } finally {
      this.#leave(group);
    }
  }

  async #enter(group: string, member: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#hasRoom(group)) {
      this.#take(group, member);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const giveUp = () => {
        this.#waiting.delete(waiting);
        reject(signal?.reason);
      };
      const waiting: Waiting = {
        group,
        member,
        enter: () => {
          signal?.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(waiting);
    });
  }

  #hasRoom(group: string): boolean {
    return this.#count < this.#most && (this.#taken.get(group) ?? 0) < this.#mostOfOne;
  }

  #take(group: string, member: string): void {
    this.#count += 1;
    this.#taken.set(group, (this.#taken.get(group) ?? 0) + 1);
    const turns = this.#turns.get(group) ?? new Map<string, number>();
    this.#turns.set(group, turns.set(member, ++this.#turn));
  }

  #leave(group: string): void {
    this.#count -= 1;
    const left = (this.#taken.get(group) ?? 0) - 1;
    if (left > 0) this.#taken.set(group, left);
    else this.#taken.delete(group);
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting.delete(next);
      this.#take(next.group, next.member);
      next.enter();
    }
    const isWaiting = () => [...this.#waiting].some((waiting) => waiting.group === group);
    if (!this.#taken.has(group) && !isWaiting()) this.#turns.delete(group);
  }

  #next(): Waiting | undefined {
    let next: Waiting | undefined;
    let turn = 0;
    for (const waiting of this.#waiting) {
      if (next === undefined ? !this.#hasRoom(waiting.group) : waiting.group !== next.group) continue;
      const last = this.#turns.get(waiting.group)?.get(waiting.member) ?? 0;
      if (next !== undefined && last >= turn) continue;
      next = waiting;
      turn = last;
    }
    return next;
  }
}
