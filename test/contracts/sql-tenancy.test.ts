import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, SqliteDialect, sql } from 'kysely';
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../src/store/sql/migrate.ts';
import { openSqlite } from '../../src/store/sql/open-sqlite.ts';
import { SqlTenancy } from '../../src/store/sql/sql-tenancy.ts';
import type { Tables } from '../../src/store/sql/tables.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { tenancyContract } from './tenancy.ts';

tenancyContract('SqlTenancy', async () => {
  const directory = temporaryDirectory();
  const database = await openSqlite(join(directory.path, 'x.sqlite'), 1);
  return {
    tenancy: new SqlTenancy(database),
    async close() {
      await database.destroy();
      directory.remove();
    },
  };
});

describe('openSqlite', () => {
  it('syncs every commit, in a file that only its owner reads, and keeps what was written', async () => {
    const directory = temporaryDirectory();
    const file = join(directory.path, 'x.sqlite');
    const first = await openSqlite(file, 1);
    const tenancy = new SqlTenancy(first);
    await tenancy.recordFirstStart(1);
    const { rows } = await sql<{ synchronous: bigint }>`PRAGMA synchronous`.execute(first);
    const mode = await sql<{ journal_mode: string }>`PRAGMA journal_mode`.execute(first);
    await first.destroy();
    expect(Number(rows[0]?.synchronous)).toBe(2);
    expect(mode.rows[0]?.journal_mode).toBe('wal');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const second = await openSqlite(file, 2);
    expect(await new SqlTenancy(second).recordFirstStart(2)).toBe(false);
    await second.destroy();
    directory.remove();
  });
});

describe('migrate', () => {
  const open = () =>
    new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(':memory:') as never }) });

  it('runs each step once, in order, and undoes all of a run that fails', async () => {
    const database = open();
    const ran: string[] = [];
    const step = (name: string, fails = false) => ({
      name,
      async up(target: Kysely<unknown>) {
        ran.push(name);
        await target.schema.createTable(name).addColumn('id', 'text').execute();
        if (fails) throw new Error('broken step');
      },
    });
    await migrate(database, 1, [step('one')]);
    await expect(migrate(database, 2, [step('one'), step('two'), step('three', true)])).rejects.toThrow(
      'broken step',
    );
    await migrate(database, 3, [step('one'), step('two')]);
    expect(ran).toEqual(['one', 'two', 'three', 'two']);
    await database.destroy();
  });

  it('refuses a database of a newer version', async () => {
    const database = open();
    await migrate(database, 1, [{ name: 'future', async up() {} }]);
    await expect(migrate(database, 2, [])).rejects.toThrow('written by a newer version (it has future)');
    await database.destroy();
  });
});
