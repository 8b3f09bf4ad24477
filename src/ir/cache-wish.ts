/** What a caller asks of the response cache. */
export interface CacheWish {
  /** How long the answer is kept, where it is new. */
  readonly ttlSeconds: number;
  /** What is kept is forgotten first. */
  readonly clears: boolean;
}
