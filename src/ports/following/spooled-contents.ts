import type { GenerationContent, StoredContent } from '../content/content.ts';

/** Content of the first of some generations. */
export interface FoundContents {
  readonly contents: ReadonlyMap<string, GenerationContent>;
  /** How many of the generations were looked up; at least one if there are any. */
  readonly lookedUp: number;
}

/** Prompts and answers that followers have yet to read, shared by all gateways. None of it is money. */
export interface SpooledContents {
  /** Queues content for writing. Never waits and never throws: what cannot be written is lost, and the log says so. */
  put(content: StoredContent): void;
  /** Content of generations in the order of their ids, until it has about `maxCharacters` together. */
  find(generationIds: readonly string[], maxCharacters: number): Promise<FoundContents>;
  /** Removes what all followers have read. */
  delete(generationIds: readonly string[]): Promise<void>;
  /** Removes what was stored before a moment, then the oldest above a size. Resolves with the bytes that remain. */
  prune(bounds: { readonly beforeMs: number; readonly maxBytes: number }): Promise<number>;
  /** Contents that were lost since the start: there was no room for them, or they could not be written. */
  readonly lostCount: number;
  /** Writes the queue, then closes. */
  close(): Promise<void>;
}
