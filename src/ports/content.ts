import type { JsonObject } from '../kit/json/json.ts';

/** What was said in a generation, in the names of the wire. */
export type GenerationContent = {
  /** `{messages}` or `{prompt}`: what the caller sent. */
  input: JsonObject;
  output: { completion: string | null; reasoning: string | null; tool_calls?: JsonObject[] };
  /** Why it failed; null when it did not. */
  error: JsonObject | null;
};

/** Content with all that says whose it is. */
export interface StoredContent {
  readonly generationId: string;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly content: GenerationContent;
}

/** How much content is kept. */
export interface ContentRetention {
  /** Of generations from before this moment nothing is kept, epoch milliseconds. */
  readonly beforeMs: number;
  /** All that is kept together; above it the oldest goes first. */
  readonly maxBytes: number;
}

/** Prompts and answers of the workspaces that want them kept, apart from everything else. None of it is money. */
export interface ContentStore {
  /**
   * Keeps content as soon as there is time, and gives it back from now on. Never waits and never throws: what cannot be
   * kept is lost, and the log says so.
   */
  put(content: StoredContent): void;
  /** Undefined also for that of other accounts. */
  get(accountId: string, generationId: string): Promise<GenerationContent | undefined>;
  /** False when there is none in this account. */
  delete(accountId: string, generationId: string): Promise<boolean>;
  /** Removes what is too old, then the oldest of what is too much. Resolves with the bytes that are kept now. */
  prune(retention: ContentRetention): Promise<number>;
  /** Writes what is waiting, then closes. */
  close(): Promise<void>;
}
