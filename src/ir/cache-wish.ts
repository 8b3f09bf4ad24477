export interface CacheWish {
  /** How long the answer is kept, where it is new. */
  readonly ttlSeconds: number;
  /** The cached answer is removed first. */
  readonly clears: boolean;
}
