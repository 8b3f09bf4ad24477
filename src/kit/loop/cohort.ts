/** How many things are dealt with in one turn; the others wait for the next, so that no turn takes too long. */
export interface CohortLimits {
  readonly most: number;
  /**
   * Of those, where there are more: so many that came last, before those that came first. A request that has waited
   * for long may be gone or about to be refused: the newest are more likely to be of use.
   */
  readonly newest: number;
}

const NO_LIMITS: CohortLimits = { most: Number.POSITIVE_INFINITY, newest: 0 };

/**
 * Things of one kind that come in one turn of the event loop, dealt with at its end, one right after the other. Under
 * load the code of a request is larger than the instruction cache of a processor: where each thing goes its whole way
 * before the next begins, all of that code is fetched anew for each. Things that go the same stretch together share
 * it.
 */
export class Cohort<T> {
  readonly #deal: (thing: T) => void;
  readonly #limits: CohortLimits;
  #gathered: T[] = [];

  constructor(deal: (thing: T) => void, limits: CohortLimits = NO_LIMITS) {
    this.#deal = deal;
    this.#limits = limits;
  }

  /** Is dealt with at the end of this turn, after those that were added before. */
  add(thing: T): void {
    if (this.#gathered.push(thing) === 1) setImmediate(this.#dealWithAll);
  }

  readonly #dealWithAll = (): void => {
    const things = this.#gathered;
    const { most, newest } = this.#limits;
    this.#gathered = [];
    const now =
      things.length <= most
        ? things
        : [...things.splice(things.length - newest), ...things.splice(0, most - newest)];
    const later = now === things ? [] : things;
    let dealt = 0;
    try {
      while (dealt < now.length) this.#deal(now[dealt++] as T);
    } finally {
      // Those after one that threw, which was not their fault, and those that there was no time for.
      if (dealt < now.length || later.length > 0) this.#goOnWith([...now.slice(dealt), ...later]);
    }
  };

  #goOnWith(left: T[]): void {
    if (this.#gathered.length === 0) setImmediate(this.#dealWithAll);
    this.#gathered = [...left, ...this.#gathered];
  }
}

/**
 * `await BATCH_POINT` lets all requests of this turn reach the same point before any continues: they run the same
 * code one after the other while it is in the instruction cache.
 */
export const BATCH_POINT: Promise<void> = Promise.resolve();
