export interface ApprovalClaim {
  /** Digest of the approval and of the key that was asked for it. */
  readonly id: string;
  readonly generationId: string;
  readonly atMs: number;
}

/** The tools of a server as an account saw them. */
export interface SeenTools {
  readonly digests: Readonly<Record<string, string>>;
  /** Epoch milliseconds of the last change of a tool, by its name. */
  readonly changedAtMs: Readonly<Record<string, number>>;
  readonly seenAtMs: number;
}

/** Facts about calls and tools of MCP servers that must outlive the process. */
export interface McpMemory {
  /** Claims an approval. Returns false if it was claimed before. */
  claimApproval(claim: ApprovalClaim): Promise<boolean>;
  /** `server`: digest of its address. Undefined = the account has seen no tools of it. */
  seenTools(accountId: string, server: string): Promise<SeenTools | undefined>;
  /** Stores the tools of a server. Of each account those of the servers that were stored last are kept. */
  noteSeenTools(accountId: string, server: string, seen: SeenTools): Promise<void>;
}
