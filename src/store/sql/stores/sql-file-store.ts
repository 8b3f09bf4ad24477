import type { Kysely } from 'kysely';
import type { FilePosition, FileStore, StoredFile } from '../../../ports/files.ts';
import type { FileRow, Tables } from '../tables.ts';

/** Rows of files in a database of either engine. */
export class SqlFileStore implements FileStore {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  async insert(file: StoredFile): Promise<void> {
    await this.#database.insertInto('files').values(rowOf(file)).execute();
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

function rowOf(file: StoredFile): FileRow {
  return {
    id: file.id,
    account_id: file.accountId,
    workspace_id: file.workspaceId,
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
    filename: row.filename,
    mimeType: row.mime_type,
    sizeBytes: Number(row.size_bytes),
    isDownloadable: Number(row.is_downloadable) === 1,
    createdAtMs: Number(row.created_at_ms),
  };
}
