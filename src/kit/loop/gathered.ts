interface Waiting<I, O> {
  readonly item: I;
  resolve(result: O): void;
  reject(reason: unknown): void;
}

const MAX_BATCH = 500;

/**
 * Handles items in batches: those of one turn of the event loop together, and while a batch is being handled, all that
 * come meanwhile. So a store gets one statement at a time, however many requests wait for it. For what is done
 * synchronously, and needs no result, take `Cohort`.
 */
export class Gathered<I, O> {
  readonly #handle: (items: readonly I[]) => Promise<readonly O[]>;
  #waiting: Waiting<I, O>[] = [];
  #isScheduled = false;

  /** `handle`: resolves with a result for each item, in their order. */
  constructor(handle: (items: readonly I[]) => Promise<readonly O[]>) {
    this.#handle = handle;
  }

  /** Resolves with the result for the item; rejects if its batch does. */
  add(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) await this.#runBatch(this.#waiting.splice(0, MAX_BATCH));
    this.#isScheduled = false;
  }

  async #runBatch(batch: readonly Waiting<I, O>[]): Promise<void> {
    try {
      const results = await this.#handle(batch.map(({ item }) => item));
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as O);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
