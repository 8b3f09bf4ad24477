import type { JsonObject } from '../../kit/json/json.ts';

export interface CachedAnswer {
  /** The generation that it answered. */
  readonly sourceId: string;
  readonly storedAtMs: number;
  /** Lifetime from `storedAtMs`. */
  readonly ttlSeconds: number;
  /** Opaque to the store. */
  readonly answer: JsonObject;
}

/**
 * Cached answers by a key of owner and request. Bounded in memory and on the disk: an answer may be evicted early, and
 * is never returned after it expired.
 */
export interface ResponseCache {
  /** Undefined when there is none or it expired. Never rejects: an unreadable answer counts as none. */
  find(key: string, nowMs: number): Promise<CachedAnswer | undefined>;
  /** Stores an answer in the background, replacing one under the same key. */
  keep(key: string, cached: CachedAnswer): void;
  forget(key: string): Promise<void>;
}
