import type { Kysely } from 'kysely';
import type { StoredGeneration } from '../../../ports/generations/generations.ts';
import {
  type KeyOwner,
  type RefusedRequest,
  type RefusedRequests,
  refusedGeneration,
} from '../../../ports/generations/refused-requests.ts';
import type { RefusedRequestRow, Tables } from '../tables.ts';

/** Rows per insert. */
const ROWS_PER_STATEMENT = 100;

/** Rows of refused requests in a database of either engine. */
export class SqlRefusedRequests implements RefusedRequests {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  async add(requests: readonly RefusedRequest[]): Promise<void> {
    if (requests.length === 0) return;
    const rows = requests.map(tableRowOf);
    await this.#database.transaction().execute(async (transaction) => {
      for (let index = 0; index < rows.length; index += ROWS_PER_STATEMENT) {
        await transaction
          .insertInto('refused_requests')
          .values(rows.slice(index, index + ROWS_PER_STATEMENT))
          .onConflict((conflict) => conflict.column('id').doNothing())
          .execute();
      }
    });
  }

  async find(accountId: string, id: string): Promise<StoredGeneration | undefined> {
    const row = await this.#database
      .selectFrom('refused_requests')
      .selectAll()
      .where('id', '=', id)
      .where('account_id', '=', accountId)
      .executeTakeFirst();
    return row && generationOfRefused(row);
  }

  async ownerOfDeleted(keyHash: string): Promise<KeyOwner | undefined> {
    const row = await this.#database
      .selectFrom('deleted_keys')
      .select(['account_id', 'workspace_id'])
      .where('hash', '=', keyHash)
      .executeTakeFirst();
    return row && { accountId: row.account_id, workspaceId: row.workspace_id };
  }

  async prune(beforeMs: number, limit: number): Promise<number> {
    const { numDeletedRows } = await this.#database
      .deleteFrom('refused_requests')
      .where('id', 'in', (select) =>
        select
          .selectFrom('refused_requests')
          .select('id')
          .where('refused_at_ms', '<', beforeMs)
          .orderBy('refused_at_ms')
          .limit(limit),
      )
      .executeTakeFirstOrThrow();
    await this.#database.deleteFrom('deleted_keys').where('deleted_at_ms', '<', beforeMs).execute();
    return Number(numDeletedRows);
  }
}

function tableRowOf({ id, scopes, refusedAtMs, row }: RefusedRequest): RefusedRequestRow {
  return {
    id,
    account_id: scopes.account,
    workspace_id: scopes.workspace,
    key_hash: scopes.key,
    refused_at_ms: refusedAtMs,
    details: JSON.stringify(row),
  };
}

/** A row in the form of a generation. */
export function generationOfRefused(row: RefusedRequestRow): StoredGeneration {
  return refusedGeneration({
    id: row.id,
    scopes: { account: row.account_id, workspace: row.workspace_id, key: row.key_hash },
    refusedAtMs: Number(row.refused_at_ms),
    row: JSON.parse(row.details),
  });
}
