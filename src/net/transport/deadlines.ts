import type { Timeouts } from '../../kit/net/timeouts.ts';
import { NO_CONNECTION_IN_TIME, TransportProblem } from '../http1/client/transport-problem.ts';

/** Phases in which an exchange waits: for a connection, the first byte of the response's body, the next byte. */
export type Phase = 'connect' | 'firstByte' | 'idle';

export type Expiry = keyof Timeouts;

const EXPIRY_MESSAGES: Readonly<Record<Expiry, string>> = {
  connect: NO_CONNECTION_IN_TIME,
  firstByte: 'no answer within the time limit',
  idle: 'the answer stalled',
  total: 'the answer took too long',
};

export function expiryProblem(expiry: Expiry): TransportProblem {
  return new TransportProblem(expiry === 'total' ? 'total' : 'timeout', EXPIRY_MESSAGES[expiry]);
}

export interface ExpiryListener {
  onExpiry(expiry: Expiry): void;
}

/**
 * The time limits of one exchange: one for the current phase and one for the whole, on the monotonic clock. The phase
 * limit measures the upstream only: it stands still while we do not read.
 *
 * A phase begins with every read, and hardly any limit expires. So there is one timer, which is not set again with
 * each phase: when it fires and the limit has moved on, it is set for the rest.
 */
export class Deadlines {
  readonly #timeouts: Timeouts;
  readonly #listener: ExpiryListener;
  readonly #totalAtMs: number;
  #phase: Phase = 'connect';
  /** When the phase's limit runs out; infinite while it stands still. */
  #phaseAtMs: number;
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor(timeouts: Timeouts, listener: ExpiryListener) {
    const now = performance.now();
    this.#timeouts = timeouts;
    this.#listener = listener;
    this.#totalAtMs = now + timeouts.total;
    this.#phaseAtMs = now + timeouts.connect;
    this.#setTimer(now);
  }

  /** Begins a phase, or restarts the limit of the current phase. */
  enter(phase: Phase): void {
    const now = performance.now();
    this.#phase = phase;
    this.#phaseAtMs = now + this.#timeouts[phase];
    if (this.#phaseAtMs < this.#timerAtMs) this.#setTimer(now);
  }

  /** Stops the phase's limit until a phase is entered again. */
  pause(): void {
    this.#phaseAtMs = Number.POSITIVE_INFINITY;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #setTimer(now: number): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = Math.min(this.#phaseAtMs, this.#totalAtMs);
    this.#timer = setTimeout(this.#check, Math.ceil(this.#timerAtMs - now));
  }

  readonly #check = (): void => {
    const now = performance.now();
    if (now >= this.#totalAtMs) this.#listener.onExpiry('total');
    else if (now >= this.#phaseAtMs) this.#listener.onExpiry(this.#phase);
    else this.#setTimer(now);
  };
}
