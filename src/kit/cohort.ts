/**
 * Things of one kind that come in one turn of the event loop, dealt with at its end, one right after the other. Under load
 * the code of a request is larger than what a processor has at hand: where each thing goes its whole way before the next
 * begins, all of that code is fetched anew for each. Things that go the same stretch together share it.
 */
export class Cohort<T> {
  readonly #deal: (thing: T) => void;
  readonly #most: number;
  #gathered: T[] = [];

  /** `most`: things that are dealt with in one turn; the others wait for the next, so that no turn takes too long. */
  constructor(deal: (thing: T) => void, most = Number.POSITIVE_INFINITY) {
    this.#deal = deal;
    this.#most = most;
  }

  /** Is dealt with at the end of this turn, after those that were added before. */
  add(thing: T): void {
    if (this.#gathered.push(thing) === 1) setImmediate(this.#dealWithAll);
  }

  readonly #dealWithAll = (): void => {
    const things = this.#gathered;
    const count = Math.min(things.length, this.#most);
    this.#gathered = [];
    let dealt = 0;
    try {
      while (dealt < count) this.#deal(things[dealt++] as T);
    } finally {
      // Those that there was no time for, and those after one that threw, which was not their fault.
      if (dealt < things.length) this.#goOnWith(things.slice(dealt));
    }
  };

  #goOnWith(left: T[]): void {
    if (this.#gathered.length === 0) setImmediate(this.#dealWithAll);
    this.#gathered = [...left, ...this.#gathered];
  }
}

/**
 * Awaited at the end of a stretch of a request's way: requests that came together do the same stretch, each of them, before
 * one goes on to the next.
 */
export const STRETCH: Promise<void> = Promise.resolve();
