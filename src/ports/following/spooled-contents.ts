import type { GenerationContent, StoredContent } from '../content.ts';

/** Prompts and answers that followers have yet to read, shared by all gateways. None of it is money. */
export interface SpooledContents {
  /** Queues content for writing. Never waits and never throws: what cannot be written is lost, and the log says so. */
  put(content: StoredContent): void;
  /** Content of generations by their ids, as far as there is any. */
  find(generationIds: readonly string[]): Promise<ReadonlyMap<string, GenerationContent>>;
  /** Removes what all followers have read. */
  delete(generationIds: readonly string[]): Promise<void>;
  /** Removes what is older than a moment, then the oldest above a size. Resolves with the bytes that remain. */
  prune(bounds: { readonly beforeMs: number; readonly maxBytes: number }): Promise<number>;
  /** Writes the queue, then closes. */
  close(): Promise<void>;
}
