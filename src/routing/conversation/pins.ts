import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kit/time/clock.ts';

/** Where the last successful request of a conversation was served. */
export interface Pin {
  /** Site of the candidate (`siteOf`). */
  readonly site: string;
  /** The model that answered: a router chooses it again. */
  readonly modelId: string;
}

export interface PinDependencies {
  readonly clock: Clock;
  /** How long a pin lasts after its last success, milliseconds. */
  readonly idleMs: () => number;
  /** Size of the cache, about 350 bytes a conversation; the least recently used is evicted. */
  readonly max?: number;
}

const MAX_PINS = 100_000;

/** Pins by conversation key: they keep conversations where their prompts are cached. Memory is bounded. */
export class Pins {
  readonly #idleMs: () => number;
  readonly #pins: LRUCache<string, Pin>;

  constructor({ clock, idleMs, max = MAX_PINS }: PinDependencies) {
    this.#idleMs = idleMs;
    this.#pins = new LRUCache({ max, ttl: 1, ttlResolution: 0, perf: { now: () => clock.monotonic() } });
  }

  /** If true, callers need not compute a key. */
  get isEmpty(): boolean {
    return this.#pins.size === 0;
  }

  /** Does not extend the pin. */
  find(key: string): Pin | undefined {
    return this.#pins.get(key);
  }

  /** Sets or renews a pin after a success. */
  pin(key: string, { site, modelId }: Pin): void {
    this.#pins.set(key, { site, modelId }, { ttl: this.#idleMs() });
  }
}
