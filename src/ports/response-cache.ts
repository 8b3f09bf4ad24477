import type { JsonObject } from '../kit/json/json.ts';

/** An answer that is kept to be given again. */
export interface CachedAnswer {
  /** The generation that it was the answer to. */
  readonly sourceId: string;
  /** Epoch milliseconds. */
  readonly storedAtMs: number;
  /** How long it is kept from then on. */
  readonly ttlSeconds: number;
  /** The answer itself; its meaning is that of whoever keeps it. */
  readonly answer: JsonObject;
}

/**
 * Answers that are kept for a while, by a key that says whose they are and what was asked. Bounded in memory and on the disk:
 * any of them may be gone before its time, and none is given back after it.
 */
export interface ResponseCache {
  /** The answer under a key, unless its time is over. Never rejects: what cannot be read is not there. */
  find(key: string, nowMs: number): Promise<CachedAnswer | undefined>;
  /** Keeps an answer in place of an older one under its key. In the background, as far as there is room. */
  keep(key: string, cached: CachedAnswer): void;
  /** Forgets the answer under a key. Resolves when it is gone. */
  forget(key: string): Promise<void>;
}
