import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../kit/ids.ts';
import type { Key, Tenancy } from '../ports/tenancy.ts';
import { hashSecret } from './hash-secret.ts';

/** How long a key may be used after another process took it away, milliseconds. */
const CACHE_MS = 5000;
const CACHE_KEYS = 10_000;

/**
 * Finds keys by their secrets. Keys that were found are remembered for a short time; unknown secrets are not, so that
 * guessing cannot push known keys out. Changes made in this process show at once.
 */
export class KeyDirectory {
  readonly #tenancy: Tenancy;
  readonly #clock: Clock;
  readonly #known: LRUCache<string, Key>;
  /** Counts changes, so that a key read before one is not remembered after it. */
  #changes = 0;

  constructor(tenancy: Tenancy, clock: Clock) {
    this.#tenancy = tenancy;
    this.#clock = clock;
    this.#known = new LRUCache({
      max: CACHE_KEYS,
      ttl: CACHE_MS,
      ttlResolution: 0,
      perf: { now: () => clock.monotonic() },
    });
  }

  /** The key behind a secret; undefined for what is unknown, disabled, deleted or expired. */
  async find(secret: string): Promise<Key | undefined> {
    const hash = hashSecret(secret);
    const key = this.#known.get(hash) ?? (await this.#read(hash));
    return key !== undefined && sameHash(key.hash, hash) && this.#isUsable(key) ? key : undefined;
  }

  /** Forgets what is remembered of a key, because it was made, changed or deleted. */
  forget(hash: string): void {
    this.#changes++;
    this.#known.delete(hash);
  }

  async #read(hash: string): Promise<Key | undefined> {
    const before = this.#changes;
    const key = await this.#tenancy.findKey(hash);
    if (key !== undefined && before === this.#changes) this.#known.set(hash, key);
    return key;
  }

  #isUsable({ disabled, expiresAtMs }: Key): boolean {
    return !disabled && (expiresAtMs === null || expiresAtMs > this.#clock.now());
  }
}

function sameHash(stored: string, computed: string): boolean {
  const left = Buffer.from(stored, 'latin1');
  const right = Buffer.from(computed, 'latin1');
  return left.length === right.length && timingSafeEqual(left, right);
}
