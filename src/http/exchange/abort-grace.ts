/**
 * Waits for work that a signal should end, but never much longer than the signal: `graceMs` after the abort the wait
 * is given up with the signal's reason. One per exchange, so that a long stream adds one listener and not one per
 * wait.
 */
export class AbortGrace {
  readonly #signal: AbortSignal;
  readonly #graceMs: number;
  #timer: NodeJS.Timeout | undefined;
  #expired = false;
  #giveUp: ((reason: unknown) => void) | undefined;

  constructor(signal: AbortSignal, graceMs: number) {
    this.#signal = signal;
    this.#graceMs = graceMs;
    if (signal.aborted) this.#arm();
    else signal.addEventListener('abort', this.#arm, { once: true });
  }

  /** One wait at a time. */
  wait<T>(work: Promise<T>): Promise<T> {
    if (this.#expired) {
      work.catch(() => {});
      return Promise.reject(this.#signal.reason);
    }
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      work.then(resolve, reject);
    });
  }

  /** `wait` for work that says by itself when it is done: the work is not begun when the time is over. */
  until<T>(begin: (resolve: (value: T) => void, reject: (reason: unknown) => void) => void): Promise<T> {
    if (this.#expired) return Promise.reject(this.#signal.reason);
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      begin(resolve, reject);
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#giveUp = undefined;
    this.#signal.removeEventListener('abort', this.#arm);
  }

  readonly #arm = (): void => {
    this.#timer = setTimeout(() => {
      this.#expired = true;
      this.#giveUp?.(this.#signal.reason);
    }, this.#graceMs);
  };
}
