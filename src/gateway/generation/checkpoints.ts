/** Output tokens after which a checkpoint does not wait for its time. */
export const CHECKPOINT_TOKENS = 200;

/**
 * Says when the progress of an answer is noted down: at most so many milliseconds after something new, and in the
 * next turn of the event loop after a number of tokens, or when the upstream has said what it used. An answer that is
 * over before that, as one that came in one piece is, has none.
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

  /** So many tokens have come since the last checkpoint. `isReported`: the upstream has said what it used. */
  passed(tokens: number, isReported: boolean): void {
    if (isReported || tokens >= CHECKPOINT_TOKENS) this.#turn ??= setImmediate(() => this.#take());
    else if (tokens > 0) this.#timer ??= setTimeout(() => this.#take(), this.#everyMs);
  }

  /** The answer has ended: nothing more is noted. */
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

  /** One at a time: what comes meanwhile is noted next. */
  async #noteWhileDue(): Promise<void> {
    this.#isNoting = true;
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      await this.#note();
    }
    this.#isNoting = false;
  }
}
