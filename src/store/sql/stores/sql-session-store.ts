import type { Kysely } from 'kysely';
import type { Session, SessionOwner, SessionStore } from '../../../ports/tenancy/sessions.ts';
import type { SessionRow, Tables } from '../tables.ts';

/** Older sessions of a key that one sign-in removes: a statement with an offset needs a limit. */
const MAX_REMOVED = 10_000;

export class SqlSessionStore implements SessionStore {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  async create(session: Session, tokenHash: string, maxOfKey: number): Promise<void> {
    await this.#database.deleteFrom('sessions').where('expires_at_ms', '<=', session.createdAtMs).execute();
    await this.#database
      .insertInto('sessions')
      .values({
        id: session.id,
        token_hash: tokenHash,
        account_id: session.accountId,
        key_hash: session.keyHash,
        created_at_ms: session.createdAtMs,
        last_seen_at_ms: session.lastSeenAtMs,
        expires_at_ms: session.expiresAtMs,
        user_agent: session.userAgent,
        address: session.address,
      })
      .execute();
    await this.#removeOlder(session, maxOfKey - 1);
  }

  /** Removes the oldest sessions of the same key. After the insertion, so that of racing ones the last sees all. */
  async #removeOlder({ id, accountId, keyHash }: Session, keep: number): Promise<void> {
    await this.#database
      .deleteFrom('sessions')
      .where('id', 'in', (sessions) =>
        sessions
          .selectFrom('sessions')
          .select('id')
          .where('account_id', '=', accountId)
          .where('key_hash', '=', keyHash)
          .where('id', '<>', id)
          .orderBy('created_at_ms', 'desc')
          .orderBy('id')
          .limit(MAX_REMOVED)
          .offset(keep),
      )
      .execute();
  }

  async find(tokenHash: string, nowMs: number): Promise<Session | undefined> {
    const row = await this.#database
      .selectFrom('sessions')
      .selectAll()
      .where('token_hash', '=', tokenHash)
      .where('expires_at_ms', '>', nowMs)
      .executeTakeFirst();
    return row && sessionOf(row);
  }

  async noteSeen(id: string, atMs: number): Promise<void> {
    await this.#database
      .updateTable('sessions')
      .set({ last_seen_at_ms: atMs })
      .where('id', '=', id)
      .execute();
  }

  async list(
    { accountId, keyHash }: SessionOwner,
    nowMs: number,
    limit: number,
  ): Promise<readonly Session[]> {
    let query = this.#database
      .selectFrom('sessions')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('expires_at_ms', '>', nowMs);
    if (keyHash !== undefined) query = query.where('key_hash', '=', keyHash);
    const rows = await query.orderBy('created_at_ms', 'desc').orderBy('id').limit(limit).execute();
    return rows.map(sessionOf);
  }

  async delete({ accountId, keyHash }: SessionOwner, id: string): Promise<boolean> {
    let query = this.#database
      .deleteFrom('sessions')
      .where('id', '=', id)
      .where('account_id', '=', accountId);
    if (keyHash !== undefined) query = query.where('key_hash', '=', keyHash);
    const { numDeletedRows } = await query.executeTakeFirst();
    return numDeletedRows > 0n;
  }
}

function sessionOf(row: SessionRow): Session {
  return {
    id: row.id,
    accountId: row.account_id,
    keyHash: row.key_hash,
    createdAtMs: Number(row.created_at_ms),
    lastSeenAtMs: Number(row.last_seen_at_ms),
    expiresAtMs: Number(row.expires_at_ms),
    userAgent: row.user_agent,
    address: row.address,
  };
}
