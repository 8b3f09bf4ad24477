import type { JsonObject } from '../../kit/json/json.ts';

/** Prompt and answer of a generation, in the names of the wire. */
export type GenerationContent = {
  /** `{messages}` or `{prompt}`: what the caller sent. */
  input: JsonObject;
  output: { completion: string | null; reasoning: string | null; tool_calls?: JsonObject[] };
  /** Why it failed; null when it did not. */
  error: JsonObject | null;
  /** Names of the tools that the request offers; absent = none. */
  tools?: string[];
};

export interface StoredContent {
  readonly generationId: string;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly content: GenerationContent;
}

export interface ContentRetention {
  /** Content of generations before this moment is removed, epoch milliseconds. */
  readonly beforeMs: number;
  /** Limit for all content together; above it the oldest is removed first. */
  readonly maxBytes: number;
}

/** Prompts and answers of the workspaces that want them kept, apart from everything else. None of it is money. */
export interface ContentStore {
  /**
   * Queues content for writing; `get` finds it from now on. Never waits and never throws: content that cannot be
   * written is lost, and the log says so.
   */
  put(content: StoredContent): void;
  /** Undefined also for content of other accounts. */
  get(accountId: string, generationId: string): Promise<GenerationContent | undefined>;
  /** False when there is none in this account. */
  delete(accountId: string, generationId: string): Promise<boolean>;
  /** Removes content that is too old, then the oldest above `maxBytes`. Resolves with the bytes that remain. */
  prune(retention: ContentRetention): Promise<number>;
  /** Writes the queue, then closes. */
  close(): Promise<void>;
}
