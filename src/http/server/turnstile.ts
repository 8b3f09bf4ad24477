import { afterThis } from '../../kit/loop/turns.ts';

/** The turnstile's clock and its places in a turn of the event loop. */
export interface TurnClock {
  /** Milliseconds that only grow. */
  now(): number;
  /** Runs after all I/O of this turn was handled. */
  atEndOfTurn(run: () => void): void;
  /** Runs once the requests just begun have reached their first wait. */
  afterThis(run: () => void): void;
}

/** How many requests begin in a turn, and what counts as overload. */
export interface TurnstileLimits {
  /** Milliseconds of one turn in which requests may begin; the rest of it is for requests that have begun. */
  readonly turnMs: number;
  /** Requests that begin together before `turnMs` is checked. */
  readonly batchRequests: number;
  /** Milliseconds over which arrivals are compared with beginnings. */
  readonly windowMs: number;
  /**
   * Turns that a window needs before it can count as overload: connections are accepted by turns, which take longer on
   * a slow machine.
   */
  readonly windowTurns: number;
  /**
   * Crowded windows (too many arrivals, or too long a wait at the end) that make an overload. Each window that is not
   * crowded takes one off, so that an overload ends after as many.
   */
  readonly windows: number;
  /**
   * Milliseconds of waiting that crowd a window even without more arrivals: callers in a closed loop send no more
   * while they wait.
   */
  readonly crowdedWaitMs: number;
  /** Arrivals per request begun above which a window is crowded. */
  readonly ratio: number;
  /** Absolute slack on top of `ratio`, so that small numbers never count as overload. */
  readonly slack: number;
  /** Expected wait in milliseconds above which a new request is refused during overload. */
  readonly waitMs: number;
  /** Milliseconds after which a waiting request is refused during overload. */
  readonly lateMs: number;
  /** Turns, of the last one's length, that a request may always wait. */
  readonly minWaitTurns: number;
}

export const TURNSTILE_LIMITS: TurnstileLimits = {
  turnMs: 1,
  batchRequests: 16,
  windowMs: 100,
  windowTurns: 8,
  windows: 4,
  crowdedWaitMs: 600,
  ratio: 1.25,
  slack: 20,
  waitMs: 10,
  lateMs: 20,
  minWaitTurns: 2,
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
 * Lets requests begin as fast as they can be worked on. A burst waits: callers that wait for a reply before they send
 * the next request are limited in number, and are served a little later. If arrivals exceed what can be served for
 * several windows, it is an overload: requests that would wait for long are refused at once, so that the others are
 * served without delay.
 */
export class Turnstile {
  readonly #limits: TurnstileLimits;
  readonly #clock: TurnClock;
  /** In the order of their arrival, from `#first` on. */
  #waiting: Waiting[] = [];
  #first = 0;
  #turnSinceMs: number | undefined;
  #lastTurnMs = 0;
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

  get waiting(): number {
    return this.#waiting.length - this.#first;
  }

  /** Overloaded, and a request that came now would wait for long. */
  get isOverloaded(): boolean {
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
    if (this.isOverloaded) return false;
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

  /** No request begins before the end of a turn, so the wait inside a long turn does not count. */
  #atLeastTurns(milliseconds: number): number {
    return Math.max(milliseconds, this.#lastTurnMs * this.#limits.minWaitTurns);
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
    while (this.waiting > 0 && begun < this.#limits.batchRequests) {
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
    } else if (this.#first > MAX_SHIFTED_ENTRIES) {
      this.#waiting = this.#waiting.slice(this.#first);
      this.#first = 0;
    }
    return next;
  }

  /** Closes the windows that are over. */
  #count(now: number): void {
    const { windowMs, windowTurns, windows, crowdedWaitMs, ratio, slack } = this.#limits;
    const elapsed = now - this.#windowSinceMs;
    const hasTurns = this.#turns >= windowTurns;
    if (elapsed < windowMs || (!hasTurns && this.#paceMs === undefined && this.waiting > 0)) return;
    const areMany = (hasTurns || elapsed < 2 * windowMs) && this.#arrived > this.#begun * ratio + slack;
    const isCrowded = areMany || now - (this.#waiting[this.#first]?.sinceMs ?? now) > crowdedWaitMs;
    // Windows are only closed by arrivals: after a pause several are over at once.
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

/**
 * Entries that have left the queue and are still in its array: removed together, because removing one copies the
 * rest.
 */
const MAX_SHIFTED_ENTRIES = 1024;
