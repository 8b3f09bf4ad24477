/**
 * Things of one kind that come in one turn of the event loop, dealt with at its end, one right after the other. Under load
 * the code of a request is larger than what a processor has at hand: where each thing goes its whole way before the next
 * begins, all of that code is fetched anew for each. Things that go the same stretch together share it.
 */
export class Cohort<T> {
  readonly #deal: (thing: T) => void;
  #gathered: T[] = [];

  constructor(deal: (thing: T) => void) {
    this.#deal = deal;
  }

  /** Is dealt with at the end of this turn, after those that were added before. */
  add(thing: T): void {
    if (this.#gathered.push(thing) === 1) setImmediate(this.#dealWithAll);
  }

  readonly #dealWithAll = (): void => {
    const things = this.#gathered;
    this.#gathered = [];
    let dealt = 0;
    try {
      for (const thing of things) {
        dealt++;
        this.#deal(thing);
      }
    } finally {
      // What one of them throws is not the others' fault.
      for (const thing of things.slice(dealt)) this.add(thing);
    }
  };
}

/**
 * Awaited at the end of a stretch of a request's way: requests that came together do the same stretch, each of them, before
 * one goes on to the next.
 */
export const STRETCH: Promise<void> = Promise.resolve();
