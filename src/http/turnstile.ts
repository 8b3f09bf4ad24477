/** What a turnstile reads the time from. */
export interface TurnClock {
  /** Milliseconds that only grow. */
  now(): number;
  /** When everything was looked at that this turn of the event loop has brought. */
  atEndOfTurn(run: () => void): void;
  /** When what was just begun has gone as far as it can without waiting. */
  afterThis(run: () => void): void;
}

/** How many requests begin at once, and when there are too many. */
export interface TurnstileLimits {
  /** Milliseconds of one turn of the event loop in which requests begin: the rest is for those that have begun. */
  readonly turnMs: number;
  /** Milliseconds over which arrivals are compared with beginnings. */
  readonly windowMs: number;
  /** Windows in a row, each with too many arrivals, that are no mere crowd any more. */
  readonly windows: number;
  /** Arrivals that are too many for one beginning. */
  readonly ratio: number;
  /** Arrivals beyond that which never matter. */
  readonly slack: number;
  /** Milliseconds that a request may expect to wait while there are too many. */
  readonly waitMs: number;
  /** Milliseconds after which one that waits is refused after all, while there are too many. */
  readonly lateMs: number;
}

export const TURNSTILE_LIMITS: TurnstileLimits = {
  turnMs: 1,
  windowMs: 100,
  windows: 3,
  ratio: 1.25,
  slack: 20,
  waitMs: 10,
  lateMs: 20,
};

const TURN_CLOCK: TurnClock = {
  now: () => performance.now(),
  atEndOfTurn: (run) => void setImmediate(run),
  // Ticks that a microtask asks for come after all microtasks.
  afterThis: (run) => queueMicrotask(() => process.nextTick(run)),
};

interface Waiting {
  readonly sinceMs: number;
  readonly resolve: (mayBegin: boolean) => void;
}

/**
 * Lets requests begin as fast as they can be worked on. A crowd waits: callers that wait for their answers before they ask
 * again are never more than there are of them, and get what they want a little later. Where more come than can be served,
 * for longer than a crowd would take, nobody is helped by waiting: those who would wait for long are refused at once, so
 * that the others are served as if there was no crowd.
 */
export class Turnstile {
  readonly #limits: TurnstileLimits;
  readonly #clock: TurnClock;
  /** In the order of their arrival, from `#first` on. */
  #waiting: Waiting[] = [];
  #first = 0;
  #turnSinceMs: number | undefined;
  #windowSinceMs = 0;
  #arrived = 0;
  #begun = 0;
  /** Windows in a row in which too many arrived. */
  #crowdedWindows = 0;
  /** How long one beginning takes while there are too many; undefined when there are not. */
  #paceMs: number | undefined;

  constructor(limits: TurnstileLimits = TURNSTILE_LIMITS, clock: TurnClock = TURN_CLOCK) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting.length - this.#first;
  }

  /** Whether a request may begin; a promise while it has to wait. */
  enter(): boolean | Promise<boolean> {
    const now = this.#clock.now();
    this.#count(now);
    this.#arrived++;
    if (this.waiting === 0 && this.#hasTime(now)) {
      this.#begun++;
      return true;
    }
    if (this.#paceMs !== undefined && this.waiting * this.#paceMs > this.#limits.waitMs) return false;
    return new Promise((resolve) => {
      this.#waiting.push({ sinceMs: now, resolve });
    });
  }

  /** Whether there is time left in this turn; begins one. */
  #hasTime(now: number): boolean {
    if (this.#turnSinceMs === undefined) {
      this.#turnSinceMs = now;
      this.#clock.atEndOfTurn(this.#endTurn);
    }
    return now - this.#turnSinceMs < this.#limits.turnMs;
  }

  readonly #endTurn = (): void => {
    this.#turnSinceMs = undefined;
    this.#beginNext();
  };

  /** One begins after the other: only so is it seen how long they take. */
  readonly #beginNext = (): void => {
    const now = this.#clock.now();
    this.#count(now);
    while (this.waiting > 0 && this.#hasTime(now)) {
      const { sinceMs, resolve } = this.#shift();
      const isLate = this.#paceMs !== undefined && now - sinceMs > this.#limits.lateMs;
      resolve(!isLate);
      if (isLate) continue;
      this.#begun++;
      this.#clock.afterThis(this.#beginNext);
      return;
    }
  };

  #shift(): Waiting {
    const next = this.#waiting[this.#first] as Waiting;
    this.#first++;
    if (this.#first === this.#waiting.length) {
      this.#waiting = [];
      this.#first = 0;
    } else if (this.#first > MOST_GONE) {
      this.#waiting = this.#waiting.slice(this.#first);
      this.#first = 0;
    }
    return next;
  }

  /** Closes the windows that are over. */
  #count(now: number): void {
    const { windowMs, windows, ratio, slack } = this.#limits;
    const elapsed = now - this.#windowSinceMs;
    if (elapsed < windowMs) return;
    const isCrowded = elapsed < 2 * windowMs && this.#arrived > this.#begun * ratio + slack;
    this.#crowdedWindows = isCrowded ? this.#crowdedWindows + 1 : 0;
    this.#paceMs = this.#crowdedWindows >= windows ? elapsed / Math.max(1, this.#begun) : undefined;
    this.#windowSinceMs = now;
    this.#arrived = 0;
    this.#begun = 0;
  }
}

/** Those that have left the line are forgotten together. */
const MOST_GONE = 1024;
