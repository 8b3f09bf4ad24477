/** Output tokens after which a checkpoint is written early. */
export const CHECKPOINT_TOKENS = 200;

/**
 * Decides when a checkpoint of an answer is written: within a number of milliseconds of any progress, or in the next
 * turn of the event loop after a number of tokens or a usage report. An answer that ends earlier, such as one in a
 * single piece, has no checkpoint.
 */
export class Checkpoints {
  readonly #everyMs: number;
  readonly #note: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;
  #isNoting = false;
  #isDue = false;
  #isClosed = false;

  constructor(everyMs: number, note: () => Promise<void>) {
    this.#everyMs = everyMs;
    this.#note = note;
  }

  /** Counts tokens since the last checkpoint. `isReported`: the upstream has reported its usage. */
  passed(tokens: number, isReported: boolean): void {
    if (isReported || tokens >= CHECKPOINT_TOKENS) this.#turn ??= setImmediate(() => this.#take());
    else if (tokens > 0) this.#timer ??= setTimeout(() => this.#take(), this.#everyMs);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
  }

  #take(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#turn = undefined;
    this.#isDue = true;
    if (!this.#isNoting) void this.#noteWhileDue();
  }

  /** One checkpoint at a time: progress made meanwhile goes into the next. */
  async #noteWhileDue(): Promise<void> {
    this.#isNoting = true;
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      await this.#note();
    }
    this.#isNoting = false;
  }
}
