/** Some imported events, compressed. */
export interface UsageSlice {
  /** Digest of the events: a file that is imported again has the same slices. */
  readonly id: string;
  readonly events: number;
  /** When the newest event came about, epoch milliseconds. */
  readonly lastEventMs: number;
  /** The events as compressed text. */
  readonly content: string;
}

/**
 * Imported usage, which no record and no row has: events that were lost are filled again from it, and gateways that
 * share a database see each other's imports in it. Rejects with DatabaseUnavailable when a retry may help.
 */
export interface ImportedUsage {
  /** Ids of all slices, oldest import first. */
  ids(): Promise<readonly string[]>;
  /** Undefined if the slice was removed. */
  read(id: string): Promise<UsageSlice | undefined>;
  /** Adds a slice; a known one is skipped. */
  add(slice: UsageSlice, atMs: number): Promise<void>;
  /** Removes slices whose events are all older. Resolves with their number. */
  prune(beforeMs: number): Promise<number>;
  /** Removes the oldest slices beyond the limit of all together. Resolves with their number. */
  dropOldest(): Promise<number>;
}
