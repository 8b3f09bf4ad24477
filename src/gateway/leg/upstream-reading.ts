import { GatewayError } from '../../ir/errors.ts';
import { LightAbortController } from '../../kit/loop/light-abort.ts';

/** Abandoned answers that are read to their end at the same time, at most. */
const MAX_OPEN_DRAINS = 64;

/** Milliseconds that an abandoned answer is read, at most. */
const DRAIN_MS = 60_000;

/** Counts the abandoned answers that are being read. */
export interface Drains {
  current: number;
}

/**
 * Decides how long an upstream is read. If the caller leaves, the upstream call is aborted. An upstream that would go
 * on and bill all of its output is read to its end instead, within limits, for its usage report.
 */
export class UpstreamReading {
  readonly #caller: AbortSignal;
  readonly #upstream = new LightAbortController();
  readonly #drains: Drains;
  readonly #billsAbandoned: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #isDraining = false;

  /** `billsAbandoned` is called when the caller leaves, because it depends on the upstream that was called. */
  constructor(caller: AbortSignal, drains: Drains, billsAbandoned: () => boolean) {
    this.#caller = caller;
    this.#drains = drains;
    this.#billsAbandoned = billsAbandoned;
    if (caller.aborted) this.#upstream.abort(caller.reason);
    else caller.addEventListener('abort', this.#left, { once: true });
  }

  /** Aborted to stop the upstream. */
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
