import type { Kysely } from 'kysely';
import type { ApprovalClaim, McpMemory, SeenTools } from '../../../ports/upstreams/mcp-memory.ts';
import type { Tables } from '../tables.ts';
import { transact } from '../transact.ts';

/** Age at which the claim of an approval is deleted. */
const APPROVAL_DAYS = 90;
const DAY_MS = 86_400_000;

/** Servers of one account whose tools are kept. */
const MAX_SERVERS = 200;

export class SqlMcpMemory implements McpMemory {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  async claimApproval({ id, generationId, atMs }: ApprovalClaim): Promise<boolean> {
    await this.#database
      .deleteFrom('mcp_approvals')
      .where('claimed_at_ms', '<', atMs - APPROVAL_DAYS * DAY_MS)
      .execute();
    const { numInsertedOrUpdatedRows } = await this.#database
      .insertInto('mcp_approvals')
      .values({ id, generation_id: generationId, claimed_at_ms: atMs })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .executeTakeFirst();
    return Number(numInsertedOrUpdatedRows ?? 0) > 0;
  }

  async seenTools(accountId: string, server: string): Promise<SeenTools | undefined> {
    const row = await this.#database
      .selectFrom('mcp_seen_tools')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('server', '=', server)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    return {
      digests: JSON.parse(row.digests) as SeenTools['digests'],
      changedAtMs: JSON.parse(row.changed_at_ms) as SeenTools['changedAtMs'],
      seenAtMs: Number(row.seen_at_ms),
    };
  }

  noteSeenTools(
    accountId: string,
    server: string,
    { digests, changedAtMs, seenAtMs }: SeenTools,
  ): Promise<void> {
    const members = {
      digests: JSON.stringify(digests),
      changed_at_ms: JSON.stringify(changedAtMs),
      seen_at_ms: seenAtMs,
    };
    return transact(this.#database, async (transaction) => {
      await transaction
        .insertInto('mcp_seen_tools')
        .values({ account_id: accountId, server, ...members })
        .onConflict((conflict) => conflict.columns(['account_id', 'server']).doUpdateSet(members))
        .execute();
      const oldest = await transaction
        .selectFrom('mcp_seen_tools')
        .select('server')
        .where('account_id', '=', accountId)
        .orderBy('seen_at_ms', 'desc')
        .orderBy('server')
        .limit(MAX_SERVERS)
        .offset(MAX_SERVERS)
        .execute();
      if (oldest.length === 0) return;
      await transaction
        .deleteFrom('mcp_seen_tools')
        .where('account_id', '=', accountId)
        .where(
          'server',
          'in',
          oldest.map((row) => row.server),
        )
        .execute();
    });
  }
}
