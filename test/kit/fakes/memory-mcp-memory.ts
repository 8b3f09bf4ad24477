import type { McpMemory, SeenTools } from '../../../src/ports/upstreams/mcp-memory.ts';

/** What is remembered of MCP servers, in this process alone. */
export class MemoryMcpMemory implements McpMemory {
  readonly #claims = new Set<string>();
  readonly #seen = new Map<string, SeenTools>();

  async claimApproval({ id }: { readonly id: string }): Promise<boolean> {
    const isFirst = !this.#claims.has(id);
    this.#claims.add(id);
    return isFirst;
  }

  async seenTools(accountId: string, server: string): Promise<SeenTools | undefined> {
    return this.#seen.get(`${accountId} ${server}`);
  }

  async noteSeenTools(accountId: string, server: string, seen: SeenTools): Promise<void> {
    this.#seen.set(`${accountId} ${server}`, seen);
  }
}
