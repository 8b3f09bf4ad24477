/** The ids of ended generations, in the two halves that they are forgotten by. */
export interface EndedIds {
  readonly older: readonly string[];
  readonly recent: readonly string[];
}

/** No generation has ended. */
export const NONE_ENDED: EndedIds = { older: [], recent: [] };

/** Ids in each half. At 500 generations a second both together are half a minute and more. */
const HALF_IDS = 16_384;

/**
 * Remembers which generations have ended, so that a record that comes again changes nothing. It need not remember for
 * long: ids are never used twice, records that a snapshot holds are known by their sequence number, and what is left,
 * records that were appended again after the disk failed, follow the first ones closely.
 */
export class EndedGenerations {
  readonly #half: number;
  #older: Set<string>;
  #recent: Set<string>;

  constructor({ older, recent }: EndedIds, half = HALF_IDS) {
    this.#half = half;
    this.#older = new Set(older);
    this.#recent = new Set(recent);
  }

  has(generationId: string): boolean {
    return this.#recent.has(generationId) || this.#older.has(generationId);
  }

  add(generationId: string): void {
    if (this.#recent.size >= this.#half) {
      this.#older = this.#recent;
      this.#recent = new Set();
    }
    this.#recent.add(generationId);
  }

  /** All that are remembered. */
  ids(): EndedIds {
    return { older: [...this.#older], recent: [...this.#recent] };
  }
}
