import type { Timeouts } from '../catalog/provider.ts';

/** What an exchange waits for: a connection, the first byte of the answer's body, the next byte. */
export type Phase = 'connect' | 'firstByte' | 'idle';

/** Which limit of an exchange ran out. */
export type Expiry = keyof Timeouts;

/**
 * The time limits of one exchange: one of the current phase and one of the whole. They run on the event loop's
 * monotonic clock. The phase limit measures the upstream only: it stands still while we do not read.
 */
export class Deadlines {
  readonly #timeouts: Timeouts;
  readonly #expire: (expiry: Expiry) => void;
  readonly #total: NodeJS.Timeout;
  #phase: Phase = 'connect';
  #timer: NodeJS.Timeout | undefined;

  constructor(timeouts: Timeouts, expire: (expiry: Expiry) => void) {
    this.#timeouts = timeouts;
    this.#expire = expire;
    this.#total = setTimeout(expire, timeouts.total, 'total');
    this.enter('connect');
  }

  /** Begins a phase; in the phase that runs already, begins its limit anew. */
  enter(phase: Phase): void {
    if (phase === this.#phase && this.#timer !== undefined) {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#phase = phase;
    this.#timer = setTimeout(this.#expire, this.#timeouts[phase], phase);
  }

  /** Stops the phase's limit until a phase is entered again. */
  pause(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Nothing expires any more. */
  stop(): void {
    this.pause();
    clearTimeout(this.#total);
  }
}
