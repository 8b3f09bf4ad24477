/** Limits of one turn; the rest waits for the next, so that no turn takes too long. */
export interface CohortLimits {
  readonly most: number;
  /**
   * If more than `most` are waiting, this many of the newest are handled before the oldest: the oldest are likely to
   * time out anyway.
   */
  readonly newest: number;
}

const NO_LIMITS: CohortLimits = { most: Number.POSITIVE_INFINITY, newest: 0 };

/**
 * Gathers work of one kind during a turn of the event loop and handles it at the end of the turn, one after the other.
 * The code of a request is larger than the processor's instruction cache: handled one request at a time, all of it
 * would be fetched again for each. Where each needs a result, or one asynchronous call handles all, take `Gathered`.
 */
export class Cohort<T> {
  readonly #deal: (thing: T) => void;
  readonly #limits: CohortLimits;
  #gathered: T[] = [];

  constructor(deal: (thing: T) => void, limits: CohortLimits = NO_LIMITS) {
    this.#deal = deal;
    this.#limits = limits;
  }

  get size(): number {
    return this.#gathered.length;
  }

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
      // The rest after one that threw, and those above the limit.
      if (dealt < now.length) later.unshift(...now.slice(dealt));
      if (later.length > 0) this.#continueWith(later);
    }
  };

  /** Puts what is left before what has come meanwhile. Not by a copy: of many that wait, few go on in each turn. */
  #continueWith(left: T[]): void {
    if (this.#gathered.length === 0) setImmediate(this.#dealWithAll);
    for (const thing of this.#gathered) left.push(thing);
    this.#gathered = left;
  }
}

/**
 * `await BATCH_POINT` lets all requests of this turn reach the same point before any continues: they run the same
 * code one after the other while it is in the instruction cache.
 */
export const BATCH_POINT: Promise<void> = Promise.resolve();
