import type { Clock } from '../../kit/time/clock.ts';
import type { Limiter, RateCount, RateCounter, RateLimit, RateVerdict } from '../../ports/shared/limiter.ts';
import { MemoryLimiter } from '../rate-limits/memory-limiter.ts';
import type { StoreGate } from './store-gate.ts';

export interface SharedLimiterParts {
  /** Counts of all gateways. */
  readonly store: Limiter;
  readonly gate: Pick<StoreGate, 'isOpen' | 'ask' | 'onFound'>;
  /** Gateways that share the store, as far as known; at least 1. */
  gateways(): number;
  readonly clock: Clock;
}

/** Counters whose counts wait for the store at most. */
const MAX_PENDING = 10_000;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Counts in a store that gateways share. While the store does not answer, each gateway admits its share: the limit
 * divided by the number of gateways, at least 1. What a gateway admits is counted in memory too, so that a share is
 * not given twice, and what is counted during an outage is added to the store after it. Never rejects.
 */
export class SharedLimiter implements Limiter {
  readonly #parts: SharedLimiterParts;
  readonly #own: MemoryLimiter;
  /** Counts that the store does not have yet, by counter. */
  readonly #pending = new Map<string, RateCount & { readonly sinceMs: number }>();
  #decidedAlone = 0;

  constructor(parts: SharedLimiterParts) {
    this.#parts = parts;
    this.#own = new MemoryLimiter(parts.clock);
    parts.gate.onFound(() => void this.#sendPending());
  }

  /** Requests that were admitted or refused without the store. */
  get decidedAlone(): number {
    return this.#decidedAlone;
  }

  async take(limits: readonly RateLimit[]): Promise<RateVerdict> {
    const { gate, store } = this.#parts;
    try {
      const verdict = await gate.ask(() => store.take(limits));
      if (verdict.ok) await this.#own.add(requestsOf(limits));
      return verdict;
    } catch {
      return this.#takeShare(limits);
    }
  }

  async add(counts: readonly RateCount[]): Promise<void> {
    if (counts.length === 0) return;
    const { gate, store } = this.#parts;
    await this.#own.add(counts);
    try {
      await gate.ask(() => store.add(counts));
    } catch {
      this.#addPending(counts);
    }
  }

  async #takeShare(limits: readonly RateLimit[]): Promise<RateVerdict> {
    this.#decidedAlone += 1;
    const gateways = Math.max(1, this.#parts.gateways());
    const shares = limits.map((limit) => ({ ...limit, max: Math.max(1, Math.floor(limit.max / gateways)) }));
    const verdict = await this.#own.take(shares);
    if (verdict.ok) {
      this.#addPending(requestsOf(limits));
      return verdict;
    }
    // The caller sees the whole limit: its share depends on how many gateways there are at the moment.
    return { ...verdict, limit: limits[shares.indexOf(verdict.limit)] ?? verdict.limit };
  }

  #addPending(counts: readonly RateCount[]): void {
    for (const count of counts) {
      const key = keyOf(count);
      const known = this.#pending.get(key);
      if (known === undefined && this.#pending.size >= MAX_PENDING) continue;
      const isCurrent = known !== undefined && this.#isCurrent(known);
      const sinceMs = isCurrent ? known.sinceMs : this.#parts.clock.now();
      const before = isCurrent ? known.amount : 0;
      this.#pending.set(key, { ...count, amount: before + count.amount, sinceMs });
    }
  }

  /** Adds what was counted during an outage, except in windows that are over. */
  async #sendPending(): Promise<void> {
    const counts = [...this.#pending.values()].filter((count) => this.#isCurrent(count));
    this.#pending.clear();
    const { gate, store } = this.#parts;
    try {
      if (counts.length > 0) await gate.ask(() => store.add(counts));
    } catch {
      this.#addPending(counts);
    }
  }

  #isCurrent({ window, sinceMs }: RateCounter & { readonly sinceMs: number }): boolean {
    const now = this.#parts.clock.now();
    if (window === 'minute') return now - sinceMs < MINUTE_MS;
    return Math.floor(now / DAY_MS) === Math.floor(sinceMs / DAY_MS);
  }
}

function requestsOf(limits: readonly RateLimit[]): RateCount[] {
  return limits
    .filter(({ unit }) => unit === 'requests')
    .map(({ name, subject, window }) => ({ name, subject, window, amount: 1 }));
}

function keyOf({ name, subject }: RateCounter): string {
  return `${name}\n${subject}`;
}
