import { GatewayError } from '../../ir/errors.ts';
import { LightAbortController } from '../../kit/loop/light-abort.ts';
import type { Leg } from './leg.ts';

/** Abandoned answers that are read on at the same time, at most. */
const MAX_OPEN_DRAINS = 256;

/**
 * Abandoned answers of one API key that are read on at the same time, so that its callers leave places to
 * others.
 */
const MAX_DRAINS_OF_KEY = 64;

/** Milliseconds that the answer of an upstream is read on that bills all of it anyway, at most. */
const WHOLE_MS = 60_000;

/**
 * Milliseconds that any other upstream is read on, at most: its usage report mostly follows the last word at
 * once.
 */
const REPORT_MS = 3000;

/** Pieces of content after which such an answer goes on, so that its report is not near. */
const LATE_PIECES = 16;

/** Milliseconds in which any number of pieces may come: the upstream had written them before the caller left. */
const BURST_MS = 250;

export class Drains {
  readonly #ofKeys = new Map<string, number>();
  #open = 0;

  get open(): number {
    return this.#open;
  }

  /** False if too many are being read. */
  enter(keyHash: string): boolean {
    const ofKey = this.#ofKeys.get(keyHash) ?? 0;
    if (this.#open >= MAX_OPEN_DRAINS || ofKey >= MAX_DRAINS_OF_KEY) return false;
    this.#open += 1;
    this.#ofKeys.set(keyHash, ofKey + 1);
    return true;
  }

  leave(keyHash: string): void {
    this.#open -= 1;
    const left = (this.#ofKeys.get(keyHash) ?? 0) - 1;
    if (left > 0) this.#ofKeys.set(keyHash, left);
    else this.#ofKeys.delete(keyHash);
  }
}

type OpenLeg = Pick<Leg, 'end' | 'calling' | 'selected'>;

/**
 * Decides how long an upstream is read after the caller has left. It is read on for its usage report: to the end if it
 * would go on and bill everything, else for a short time, and only once its content has begun. An upstream that is not
 * read on, or writes on, is aborted, so that it does not bill what no one reads.
 */
export class UpstreamReading {
  readonly #caller: AbortSignal;
  readonly #upstream = new LightAbortController();
  readonly #drains: Drains;
  readonly #keyHash: string;
  readonly #legs: readonly { readonly leg: OpenLeg }[];
  #timer: NodeJS.Timeout | undefined;
  #isDraining = false;
  #isWhole = false;
  #leftAtMs = 0;
  #latePieces = 0;

  /** `legs`: those of the generation, which are looked at when the caller leaves. */
  constructor(
    caller: AbortSignal,
    drains: Drains,
    keyHash: string,
    legs: readonly { readonly leg: OpenLeg }[],
  ) {
    this.#caller = caller;
    this.#drains = drains;
    this.#keyHash = keyHash;
    this.#legs = legs;
    if (caller.aborted) this.#upstream.abort(caller.reason);
    else caller.addEventListener('abort', this.#left, { once: true });
  }

  get signal(): AbortSignal {
    return this.#upstream.signal;
  }

  get isAbandoned(): boolean {
    return this.#caller.aborted && !(this.#caller.reason instanceof GatewayError);
  }

  /** The caller has left, and the answer is read on. */
  get isDraining(): boolean {
    return this.#isDraining && !this.#upstream.signal.aborted;
  }

  /** Pieces of content have come after the caller left. */
  readLate(pieces: number): void {
    this.#latePieces += pieces;
    if (this.#isWhole || this.#latePieces <= LATE_PIECES) return;
    if (performance.now() - this.#leftAtMs > BURST_MS) this.#upstream.abort(this.#caller.reason);
  }

  /** The answer has ended, or is not read any further. */
  close(): void {
    this.#caller.removeEventListener('abort', this.#left);
    clearTimeout(this.#timer);
    if (!this.#isDraining) return;
    this.#isDraining = false;
    this.#drains.leave(this.#keyHash);
  }

  readonly #left = (): void => {
    const { reason } = this.#caller;
    const readMs = this.isAbandoned ? this.#readMs() : 0;
    if (readMs === 0 || !this.#drains.enter(this.#keyHash)) {
      this.#upstream.abort(reason);
      return;
    }
    this.#isDraining = true;
    this.#isWhole = readMs === WHOLE_MS;
    this.#leftAtMs = performance.now();
    this.#timer = setTimeout(() => this.#upstream.abort(reason), readMs);
  };

  /** Milliseconds that the open legs are read on, at most. */
  #readMs(): number {
    return this.#legs.reduce((longest, { leg }) => Math.max(longest, readMsOf(leg)), 0);
  }
}

function readMsOf({ end, calling, selected }: OpenLeg): number {
  if (end !== undefined || calling === undefined) return 0;
  if (calling.endpoint.provider.quirks?.billsAbandoned === true) return WHOLE_MS;
  return selected === undefined ? 0 : REPORT_MS;
}
