import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kit/time/clock.ts';

/** Where the earlier requests of a conversation went. */
export interface Pin {
  /** Of the candidate (`siteOf`). */
  readonly site: string;
  /** The model that answered: router models keep it. */
  readonly modelId: string;
}

/** What pins are kept with. */
export interface PinTools {
  readonly clock: Clock;
  /** How long a pin lasts without success, milliseconds. */
  readonly idleMs: () => number;
  /** Conversations that are remembered; the one unused longest goes. About 350 bytes each. */
  readonly max?: number;
}

const MOST_PINS = 100_000;

/** Keeps conversations where their prompts are cached: by conversation key, in bounded memory. */
export class Pins {
  readonly #idleMs: () => number;
  readonly #pins: LRUCache<string, Pin>;

  constructor({ clock, idleMs, max = MOST_PINS }: PinTools) {
    this.#idleMs = idleMs;
    this.#pins = new LRUCache({ max, ttl: 1, ttlResolution: 0, perf: { now: () => clock.monotonic() } });
  }

  /** Nothing is pinned: nothing can be found. */
  get isEmpty(): boolean {
    return this.#pins.size === 0;
  }

  /** Looking at a pin does not make it last longer. */
  find(key: string): Pin | undefined {
    return this.#pins.get(key);
  }

  /** Sets or renews a pin: the conversation had a success there. */
  pin(key: string, { site, modelId }: Pin): void {
    this.#pins.set(key, { site, modelId }, { ttl: this.#idleMs() });
  }
}
