import { setTimeout as delay } from 'node:timers/promises';

export interface StoreGateOptions {
  /** Asks the store whether it works. */
  probe(): Promise<unknown>;
  /** Is called when the store is lost, and when it is found again. */
  lost(reason: unknown): void;
  found(awayMs: number): void;
  /** Whether an error is what the store answered about one entry, and so no outage; absent = none is. */
  isAnswer?(error: unknown): boolean;
  /** Is called with each such error. */
  refused?(error: unknown): void;
  /** Longest wait for an answer, milliseconds. */
  readonly limitMs?: number;
}

/** The store is not asked now, because it did not answer before. */
export class StoreAway extends Error {
  constructor() {
    super('the store does not answer');
  }
}

/** Longest wait for an answer, milliseconds: what a store that is slow or away may add to a request. */
const LIMIT_MS = 100;

/** Time between probes of a store that does not answer, milliseconds. */
const PROBE_EVERY_MS = 250;

/**
 * Access to a store that requests can do without. A question that is not answered in time fails, and from then on the
 * store is not asked until it has answered a probe in time.
 */
export class StoreGate {
  readonly #options: StoreGateOptions;
  readonly #limitMs: number;
  readonly #onFound: (() => void)[] = [];
  #isOpen = false;
  #isClosed = false;
  #isLost = false;
  #awayFromMs = performance.now();
  #probing: Promise<void> | undefined;

  constructor(options: StoreGateOptions) {
    this.#options = options;
    this.#limitMs = options.limitMs ?? LIMIT_MS;
  }

  /** The store answered when it was asked last. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Probes the store for the first time. Resolves when it answers, or does not; then it is probed further. */
  async open(limitMs: number): Promise<void> {
    const probing = this.#doubt();
    await Promise.race([probing, delay(limitMs, undefined, { ref: false })]);
  }

  /** Asks the store. Rejects at once while it does not answer, and at the latest after the time limit. */
  async ask<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isOpen) throw new StoreAway();
    try {
      return await inTime(work(), this.#limitMs);
    } catch (error) {
      const isAnswer = this.#options.isAnswer?.(error) ?? false;
      if (isAnswer) this.#options.refused?.(error);
      if (this.#isOpen && !this.#isClosed && !isAnswer) {
        this.#isOpen = false;
        this.#awayFromMs = performance.now();
        void this.#doubt();
      }
      throw error;
    }
  }

  /** Calls back each time the store is found again. */
  onFound(callback: () => void): void {
    this.#onFound.push(callback);
  }

  close(): void {
    this.#isClosed = true;
    this.#isOpen = false;
  }

  /** Probes until the store answers. It is lost if the first probe fails too: one late answer is no outage. */
  #doubt(): Promise<void> {
    this.#probing ??= this.#probeUntilFound().finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
  }

  /** One probe at a time: those that a slow store has not answered would take up its connections. */
  async #probeUntilFound(): Promise<void> {
    while (!this.#isClosed) {
      const probe = this.#options.probe();
      try {
        await inTime(probe, this.#limitMs);
        this.#setFound();
        return;
      } catch (error) {
        if (!this.#isLost && !this.#isClosed && this.#isWorthSaying()) {
          this.#isLost = true;
          this.#options.lost(error);
        }
      }
      await Promise.all([probe.catch(() => {}), delay(PROBE_EVERY_MS, undefined, { ref: false })]);
    }
  }

  /** A connection that is just being opened fails the first probe of a start. */
  #isWorthSaying(): boolean {
    return performance.now() - this.#awayFromMs >= this.#limitMs;
  }

  #setFound(): void {
    if (this.#isClosed) return;
    this.#isOpen = true;
    if (this.#isLost) this.#options.found(performance.now() - this.#awayFromMs);
    this.#isLost = false;
    for (const callback of this.#onFound) callback();
  }
}

/** The limit is waited for in so many steps. */
const STEPS = 5;

/**
 * Rejects with ETIMEDOUT after the limit. A step that took longer counts as one: while this process itself is held up,
 * it can neither ask nor read the answer.
 */
async function inTime<T>(asked: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const wait = (steps: number) => {
      timer = setTimeout(() => {
        if (steps > 1) wait(steps - 1);
        else reject(Object.assign(new Error(`no answer within ${limitMs} ms`), { code: 'ETIMEDOUT' }));
      }, limitMs / STEPS);
    };
    wait(STEPS);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}
