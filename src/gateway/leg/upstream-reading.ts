import { GatewayError } from '../../ir/errors.ts';
import { LightAbortController } from '../../kit/loop/light-abort.ts';

/** Abandoned answers that are read to their end at a time. */
const MAX_OPEN_DRAINS = 64;

/** How long an abandoned answer is read, milliseconds. */
const DRAIN_MS = 60_000;

/** How many abandoned answers are being read now. */
export interface Drains {
  current: number;
}

/**
 * How long an upstream is read. Mostly as long as the caller is there: when it leaves, the upstream call is aborted.
 * One that would write on and bill all of it is read to its end instead, where it says what that was, within limits.
 */
export class UpstreamReading {
  readonly #caller: AbortSignal;
  readonly #upstream = new LightAbortController();
  readonly #drains: Drains;
  readonly #billsAbandoned: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #isDraining = false;

  /** `billsAbandoned` is asked when the caller leaves: it depends on who has been called by then. */
  constructor(caller: AbortSignal, drains: Drains, billsAbandoned: () => boolean) {
    this.#caller = caller;
    this.#drains = drains;
    this.#billsAbandoned = billsAbandoned;
    if (caller.aborted) this.#upstream.abort(caller.reason);
    else caller.addEventListener('abort', this.#left, { once: true });
  }

  /** Aborted when the upstream is to stop. */
  get signal(): AbortSignal {
    return this.#upstream.signal;
  }

  /** The caller has left. */
  get isAbandoned(): boolean {
    return this.#caller.aborted && !(this.#caller.reason instanceof GatewayError);
  }

  /** The caller has left, and the answer is read to its end. */
  get isDraining(): boolean {
    return this.#isDraining && !this.#upstream.signal.aborted;
  }

  /** The answer has ended, or is not read any further. */
  close(): void {
    this.#caller.removeEventListener('abort', this.#left);
    clearTimeout(this.#timer);
    if (!this.#isDraining) return;
    this.#isDraining = false;
    this.#drains.current -= 1;
  }

  readonly #left = (): void => {
    const { reason } = this.#caller;
    const drains = this.isAbandoned && this.#drains.current < MAX_OPEN_DRAINS && this.#billsAbandoned();
    if (!drains) {
      this.#upstream.abort(reason);
      return;
    }
    this.#isDraining = true;
    this.#drains.current += 1;
    this.#timer = setTimeout(() => this.#upstream.abort(reason), DRAIN_MS);
  };
}
