import { afterThis } from '../../kit/loop/turns.ts';

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
  /** Requests that begin together before it is looked at whether there is time for more. */
  readonly together: number;
  /** Milliseconds over which arrivals are compared with beginnings. */
  readonly windowMs: number;
  /** Turns that such a window has at least until there are too many: a crowd comes in by turns, which a slow machine takes longer for. */
  readonly windowTurns: number;
  /**
   * Windows, each with too many arrivals or too long a wait at its end, that are no mere crowd any more; those without are
   * taken off again, so that it takes as many until there are not too many any more.
   */
  readonly windows: number;
  /** Milliseconds that are too long a wait, though no more come: nor would they, if no more can wait. */
  readonly longMs: number;
  /** Arrivals that are too many for one beginning. */
  readonly ratio: number;
  /** Arrivals beyond that which never matter. */
  readonly slack: number;
  /** Milliseconds that a request may expect to wait while there are too many. */
  readonly waitMs: number;
  /** Milliseconds after which one that waits is refused after all, while there are too many. */
  readonly lateMs: number;
  /** Turns, as long as the last, that a request may wait whatever else is said. */
  readonly patience: number;
}

export const TURNSTILE_LIMITS: TurnstileLimits = {
  turnMs: 1,
  together: 16,
  windowMs: 100,
  windowTurns: 8,
  windows: 4,
  longMs: 600,
  ratio: 1.25,
  slack: 20,
  waitMs: 10,
  lateMs: 20,
  patience: 2,
};

const TURN_CLOCK: TurnClock = {
  now: () => performance.now(),
  atEndOfTurn: (run) => void setImmediate(run),
  afterThis,
};

interface Waiting {
  readonly sinceMs: number;
  readonly resolve: (mayBegin: boolean) => void;
}

/**
 * Lets requests begin as fast as they can be worked on. A crowd waits: callers that wait for their answers before they ask
 * again are never more than there are of them, and get what they want a little later. Where more come than can be served,
 * or wait for a second, for longer than a crowd would take, nobody is helped by waiting: those who would wait for long are
 * refused at once, so that the others are served as if there was no crowd.
 */
export class Turnstile {
  readonly #limits: TurnstileLimits;
  readonly #clock: TurnClock;
  /** In the order of their arrival, from `#first` on. */
  #waiting: Waiting[] = [];
  #first = 0;
  #turnSinceMs: number | undefined;
  #lastTurnMs = 0;
  /** Turns of this window. */
  #turns = 0;
  #windowSinceMs = 0;
  #arrived = 0;
  #begun = 0;
  /** Windows in which too many arrived, less those in which not. */
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

  /** There are too many, and whoever came now would wait for long. */
  get isFull(): boolean {
    return (
      this.#paceMs !== undefined && this.waiting * this.#paceMs > this.#atLeastTurns(this.#limits.waitMs)
    );
  }

  /** Counts a request that was refused because it is full. */
  turnAway(): void {
    this.#count(this.#clock.now());
    this.#arrived++;
  }

  /** Whether a request may begin, once all have come that come in this turn; false at once where it may not. */
  enter(): false | Promise<boolean> {
    const now = this.#clock.now();
    this.#count(now);
    this.#arrived++;
    if (this.isFull) return false;
    if (this.#turnSinceMs === undefined) {
      this.#beginTurn(now);
      this.#clock.afterThis(this.#beginNext);
    }
    return new Promise((resolve) => {
      this.#waiting.push({ sinceMs: now, resolve });
    });
  }

  #beginTurn(now: number): number {
    this.#turnSinceMs = now;
    this.#clock.atEndOfTurn(this.#endTurn);
    return now;
  }

  /** Whether there is time left in this turn; begins one. */
  #hasTime(now: number): boolean {
    return now - (this.#turnSinceMs ?? this.#beginTurn(now)) < this.#limits.turnMs;
  }

  /** Nobody begins before the end of a turn: who came in a long one has not waited for long. */
  #atLeastTurns(milliseconds: number): number {
    return Math.max(milliseconds, this.#lastTurnMs * this.#limits.patience);
  }

  readonly #endTurn = (): void => {
    this.#lastTurnMs = this.#clock.now() - (this.#turnSinceMs ?? 0);
    this.#turnSinceMs = undefined;
    this.#turns++;
    this.#beginNext();
  };

  /** Some begin together, and others only after them: so it is seen how long they take. */
  readonly #beginNext = (): void => {
    const now = this.#clock.now();
    this.#count(now);
    if (this.waiting === 0 || !this.#hasTime(now)) return;
    let begun = 0;
    while (this.waiting > 0 && begun < this.#limits.together) {
      const { sinceMs, resolve } = this.#shift();
      const isLate = this.#paceMs !== undefined && now - sinceMs > this.#atLeastTurns(this.#limits.lateMs);
      resolve(!isLate);
      if (!isLate) begun++;
    }
    this.#begun += begun;
    if (this.waiting > 0) this.#clock.afterThis(this.#beginNext);
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
    const { windowMs, windowTurns, windows, longMs, ratio, slack } = this.#limits;
    const elapsed = now - this.#windowSinceMs;
    const hasTurns = this.#turns >= windowTurns;
    if (elapsed < windowMs || (!hasTurns && this.#paceMs === undefined && this.waiting > 0)) return;
    const areMany = (hasTurns || elapsed < 2 * windowMs) && this.#arrived > this.#begun * ratio + slack;
    const isCrowded = areMany || now - (this.#waiting[this.#first]?.sinceMs ?? now) > longMs;
    // Where nobody came for a while, there was nobody to close the windows that were over.
    const more = isCrowded ? 1 : -Math.floor(elapsed / windowMs);
    this.#crowdedWindows = Math.min(windows, Math.max(0, this.#crowdedWindows + more));
    const areTooMany = this.#crowdedWindows > (this.#paceMs === undefined ? windows - 1 : 0);
    this.#paceMs = areTooMany ? elapsed / Math.max(1, this.#begun) : undefined;
    this.#windowSinceMs = now;
    this.#turns = 0;
    this.#arrived = 0;
    this.#begun = 0;
  }
}

/** Those that have left the line are forgotten together. */
const MOST_GONE = 1024;
