import type { Kysely } from 'kysely';
import {
  type FileOwner,
  type FilePosition,
  type FileQuotas,
  type FileScope,
  type FileStore,
  type FileUsage,
  type PassedQuota,
  passedQuota,
  type StoredFile,
} from '../../../ports/content/files.ts';
import type { FileRow, Tables } from '../tables.ts';
import { transact } from '../transact.ts';

export class SqlFileStore implements FileStore {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  insert(file: StoredFile, quotas: FileQuotas): Promise<PassedQuota | undefined> {
    // Statements after the first see what was committed while that waited.
    return transact(
      this.#database,
      async (transaction) => {
        // Locks the account against other files: its sums must not change until this one counts.
        await transaction
          .updateTable('accounts')
          .set((row) => ({ name: row.ref('name') }))
          .where('id', '=', file.accountId)
          .execute();
        const more = { bytes: file.sizeBytes, files: 1 };
        const passed = passedQuota(await usageOf(transaction, file), more, quotas);
        if (passed === undefined) await transaction.insertInto('files').values(rowOf(file)).execute();
        return passed;
      },
      'read committed',
    );
  }

  usageOf(owner: FileOwner): Promise<Readonly<Record<FileScope, FileUsage>>> {
    return usageOf(this.#database, owner);
  }

  async find(workspaceId: string, id: string): Promise<StoredFile | undefined> {
    const row = await this.#database
      .selectFrom('files')
      .selectAll()
      .where('id', '=', id)
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirst();
    return row && fileOf(row);
  }

  async list(
    workspaceId: string,
    { after, limit }: { readonly after?: FilePosition | undefined; readonly limit: number },
  ): Promise<StoredFile[]> {
    let query = this.#database.selectFrom('files').selectAll().where('workspace_id', '=', workspaceId);
    if (after !== undefined) {
      const { createdAtMs, id } = after;
      query = query.where((where) =>
        where.or([
          where('created_at_ms', '>', createdAtMs),
          where.and([where('created_at_ms', '=', createdAtMs), where('id', '>', id)]),
        ]),
      );
    }
    const rows = await query.orderBy('created_at_ms').orderBy('id').limit(limit).execute();
    return rows.map(fileOf);
  }

  async delete(workspaceId: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom('files')
      .where('id', '=', id)
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirstOrThrow();
    return numDeletedRows === 1n;
  }

  async existing(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const rows = await this.#database.selectFrom('files').select('id').where('id', 'in', ids).execute();
    return new Set(rows.map(({ id }) => id));
  }
}

/** Sums of the files of an account, of one of its workspaces, and of a key there; all from an index. */
async function usageOf(
  database: Kysely<Tables>,
  { accountId, workspaceId, keyHash }: FileOwner,
): Promise<Readonly<Record<FileScope, FileUsage>>> {
  const rows = await database
    .selectFrom('files')
    .select(['workspace_id', 'key_hash'])
    .select((row) => [row.fn.countAll().as('files'), row.fn.sum('size_bytes').as('bytes')])
    .where('account_id', '=', accountId)
    .groupBy(['workspace_id', 'key_hash'])
    .execute();
  const sumOf = (counted: typeof rows): FileUsage => ({
    bytes: counted.reduce((sum, { bytes }) => sum + Number(bytes), 0),
    files: counted.reduce((sum, { files }) => sum + Number(files), 0),
  });
  return {
    key: sumOf(keyHash === null ? [] : rows.filter(({ key_hash }) => key_hash === keyHash)),
    workspace: sumOf(rows.filter(({ workspace_id }) => workspace_id === workspaceId)),
    account: sumOf(rows),
  };
}

function rowOf(file: StoredFile): FileRow {
  return {
    id: file.id,
    account_id: file.accountId,
    workspace_id: file.workspaceId,
    key_hash: file.keyHash,
    filename: file.filename,
    mime_type: file.mimeType,
    size_bytes: file.sizeBytes,
    is_downloadable: file.isDownloadable ? 1 : 0,
    created_at_ms: file.createdAtMs,
  };
}

function fileOf(row: FileRow): StoredFile {
  return {
    id: row.id,
    accountId: row.account_id,
    workspaceId: row.workspace_id,
    keyHash: row.key_hash,
    filename: row.filename,
    mimeType: row.mime_type,
    sizeBytes: Number(row.size_bytes),
    isDownloadable: Number(row.is_downloadable) === 1,
    createdAtMs: Number(row.created_at_ms),
  };
}
