/** Ids of ended generations in two halves; the older half is dropped as a whole. */
export interface EndedIds {
  readonly older: readonly string[];
  readonly recent: readonly string[];
}

export const NONE_ENDED: EndedIds = { older: [], recent: [] };

/** Ids in each half: at 500 generations a second, at least half a minute in total. */
const HALF_IDS = 16_384;

/**
 * Remembers which generations have ended, so that a repeated record has no effect. A short memory suffices: ids are
 * never reused, records in a snapshot are recognised by their sequence, and records that are appended again after a
 * disk failure follow the first ones closely.
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

  ids(): EndedIds {
    return { older: [...this.#older], recent: [...this.#recent] };
  }
}
