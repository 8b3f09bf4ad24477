/** Output tokens after which a checkpoint does not wait for its time. */
const CHECKPOINT_TOKENS = 200;

/**
 * Says when the progress of an answer is noted down: at most so many milliseconds after something new, and at once after
 * a number of tokens, or when the upstream has said what it used. An answer that is over before that has none.
 */
export class Checkpoints {
  readonly #everyMs: number;
  readonly #note: (outputTokens: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #latest = 0;
  #noted = 0;

  constructor(everyMs: number, note: (outputTokens: number) => void) {
    this.#everyMs = everyMs;
    this.#note = note;
  }

  /** The answer has come so far, tokens of output. `isCounted`: that is what the upstream itself says of it. */
  reached(outputTokens: number, isCounted = false): void {
    this.#latest = outputTokens;
    if (isCounted || outputTokens - this.#noted >= CHECKPOINT_TOKENS) this.#take();
    else if (outputTokens > this.#noted) this.#timer ??= setTimeout(() => this.#take(), this.#everyMs);
  }

  /** The answer has ended: nothing more is noted. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #take(): void {
    this.close();
    this.#noted = this.#latest;
    this.#note(this.#latest);
  }
}
