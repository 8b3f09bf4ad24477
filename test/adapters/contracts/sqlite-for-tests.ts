import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll } from 'vitest';
import { openSqlite } from '../../../src/store/sql/sqlite/open-sqlite.ts';
import type { SqliteDatabase } from '../../../src/store/sql/sqlite/sqlite-database.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/**
 * A database for the tests of one file, opened as a gateway opens it. The function gives the same one each time,
 * emptied: opening one starts two threads.
 */
export function sqliteForTests(): () => Promise<SqliteDatabase> {
  const directory = temporaryDirectory();
  let opened: Promise<SqliteDatabase> | undefined;
  afterAll(async () => {
    await (await opened)?.destroy();
    directory.remove();
  });
  return async () => {
    opened ??= openSqlite(join(directory.path, 'x.sqlite'), 1, { readsApart: true });
    const database = await opened;
    await empty(database);
    return database;
  };
}

async function empty(database: SqliteDatabase): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select name from sqlite_master where type = 'table' and name not like 'schema_%' and name not like 'sqlite_%'
  `.execute(database);
  // Otherwise rows would have to be deleted in the order of their references.
  await sql`pragma foreign_keys = off`.execute(database);
  for (const { name } of rows) await sql`delete from ${sql.table(name)}`.execute(database);
  await sql`pragma foreign_keys = on`.execute(database);
}
