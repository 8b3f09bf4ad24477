import type { Clock } from '../time/clock.ts';
import { RecentMap, type RecentMapOptions } from './recent-map.ts';

export interface ExpiringMapOptions<V> extends RecentMapOptions<V> {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Lifetime of entries for which `set` names no other. */
  readonly lifetimeMs: number;
  /** Absent: a use does not prolong the life of an entry. */
  readonly isProlongedByUse?: true;
}

interface Expiring<V> {
  readonly value: V;
  readonly lifetimeMs: number;
  /** When it expires, by the monotonic clock. */
  untilMs: number;
}

/** A `RecentMap` whose entries expire. Expired ones take room until they are asked for, evicted or swept. */
export class ExpiringMap<K, V> {
  readonly #options: ExpiringMapOptions<V>;
  readonly #entries: RecentMap<K, Expiring<V>>;

  constructor(max: number, options: ExpiringMapOptions<V>) {
    const { maxSize, sizeOf, onRemoved } = options;
    this.#options = options;
    this.#entries = new RecentMap(max, {
      ...(maxSize !== undefined && { maxSize }),
      ...(sizeOf !== undefined && { sizeOf: ({ value }) => sizeOf(value) }),
      ...(onRemoved !== undefined && { onRemoved: ({ value }) => onRemoved(value) }),
    });
  }

  /** Counts as a use. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const nowMs = this.#options.clock.monotonic();
    if (entry.untilMs < nowMs) {
      this.#entries.delete(key);
      return undefined;
    }
    if (this.#options.isProlongedByUse === true) entry.untilMs = nowMs + entry.lifetimeMs;
    return entry.value;
  }

  /** Does not count as a use. */
  peek(key: K): V | undefined {
    const entry = this.#entries.peek(key);
    return entry === undefined || entry.untilMs < this.#options.clock.monotonic() ? undefined : entry.value;
  }

  set(key: K, value: V, lifetimeMs = this.#options.lifetimeMs, size?: number): void {
    this.#entries.set(
      key,
      { value, lifetimeMs, untilMs: this.#options.clock.monotonic() + lifetimeMs },
      size,
    );
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Deletes what has expired; visits all entries. */
  sweep(): void {
    const nowMs = this.#options.clock.monotonic();
    for (const [key, { untilMs }] of this.#entries.entries()) {
      if (untilMs < nowMs) this.#entries.delete(key);
    }
  }
}
