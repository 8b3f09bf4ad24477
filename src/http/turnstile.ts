/** What tells the time and how busy this process is. */
export interface TurnstileSenses {
  /** Monotonic milliseconds. */
  monotonic(): number;
  /** Whether the event loop has had no rest lately. */
  isSaturated(): boolean;
}

/** A turn. Called, it is given back; once is enough, more does no harm. */
export type Turn = () => void;

/** Requests that are made ready at the same time while there is more to do than time to do it. */
const MOST_TURNS = 24;

/** How many may come at once, and how long they may take to be served, to be a burst. */
const BURST_LENGTH = 1000;
const BURST_MS = 2000;

/** How many wait, and for how long, where the queue does not become empty: whoever cannot be served soon is told at once. */
const STANDING_LENGTH = 64;
const STANDING_MS = 100;

/** How often those who wait are looked after when nobody gives a turn back. */
const LOOK_EVERY_MS = 5;

interface Waiting {
  readonly sinceMs: number;
  settle(turn: Turn | undefined): void;
}

/**
 * Lets requests in one after the other when the process has more to do than it can. A burst waits its turn. Where more keeps
 * coming than can be done, waiting would only make everybody late: then a few wait for a moment, and the others are refused
 * while that is still cheap, so that what was let in is answered as soon as ever. A process that has time lets in everybody.
 */
export class Turnstile {
  readonly #senses: TurnstileSenses;
  readonly #waiting: Waiting[] = [];
  #turns = 0;
  #emptyAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(senses: TurnstileSenses) {
    this.#senses = senses;
  }

  /** A turn, at once or when it comes; undefined when it will not come in time. */
  enter(): Turn | undefined | Promise<Turn | undefined> {
    if (this.#waiting.length === 0) {
      this.#emptyAtMs = this.#senses.monotonic();
      if (this.#hasTurn()) return this.#take();
    } else if (this.#waiting.length >= (this.#isStanding() ? STANDING_LENGTH : BURST_LENGTH)) {
      return undefined;
    }
    return new Promise((settle) => {
      this.#waiting.push({ sinceMs: this.#senses.monotonic(), settle });
      this.#timer ??= setInterval(() => this.#serve(), LOOK_EVERY_MS);
    });
  }

  #hasTurn(): boolean {
    return this.#turns < MOST_TURNS || !this.#senses.isSaturated();
  }

  /** The queue has not been empty for longer than a burst takes. */
  #isStanding(): boolean {
    return this.#senses.monotonic() - this.#emptyAtMs > BURST_MS;
  }

  #take(): Turn {
    this.#turns += 1;
    let isGivenBack = false;
    return () => {
      if (isGivenBack) return;
      isGivenBack = true;
      this.#turns -= 1;
      if (this.#waiting.length > 0) this.#serve();
    };
  }

  /** Refuses those who have waited too long, and lets in those whose turn it is. */
  #serve(): void {
    const longestMs = this.#isStanding() ? STANDING_MS : BURST_MS;
    const sinceMs = this.#senses.monotonic() - longestMs;
    const first = this.#waiting.findIndex((waiting) => waiting.sinceMs >= sinceMs);
    for (const { settle } of this.#waiting.splice(0, first === -1 ? this.#waiting.length : first))
      settle(undefined);
    while (this.#waiting.length > 0 && this.#hasTurn()) this.#waiting.shift()?.settle(this.#take());
    if (this.#waiting.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
