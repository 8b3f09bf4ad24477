import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, SqliteDialect, sql } from 'kysely';
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { migrate, readSchema } from '../../../src/store/sql/migrate.ts';
import { openSqlite } from '../../../src/store/sql/sqlite/open-sqlite.ts';
import { SqlTenancy } from '../../../src/store/sql/stores/sql-tenancy.ts';
import type { Tables } from '../../../src/store/sql/tables.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { tenancyContract } from './tenancy.ts';

const emptied = sqliteForTests();

tenancyContract('SqlTenancy', async () => {
  const database = await emptied();
  return {
    tenancy: new SqlTenancy(database),
    close: async () => {},
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
    await migrate(database, 1, { migrations: [step('one')] });
    const broken = [step('one'), step('two'), step('three', true)];
    await expect(migrate(database, 2, { migrations: broken })).rejects.toThrow('broken step');
    await migrate(database, 3, { migrations: [step('one'), step('two')] });
    expect(ran).toEqual(['one', 'two', 'three', 'two']);
    await database.destroy();
  });

  describe('of a newer release', () => {
    const adds = { name: 'adds', async up() {} };
    const stopsUsing = { name: 'stops using', async up() {} };
    const removes = { name: 'removes', requires: 'stops using', async up() {} };

    it('is worked with if the newer migrations only add, and gets what it lacks itself', async () => {
      const database = open();
      await migrate(database, 1, { migrations: [adds] });
      await migrate(database, 2, { migrations: [stopsUsing] });
      expect(await readSchema(database, 'sqlite', [stopsUsing])).toEqual({
        missing: [],
        newer: ['adds'],
        required: [],
        isUnreleased: false,
      });
      await database.destroy();
    });

    it('is refused by programs without the migration that a newer one requires, and by no other', async () => {
      const database = open();
      await migrate(database, 1, { migrations: [adds, stopsUsing, removes] });
      await migrate(database, 2, { migrations: [adds, stopsUsing] });
      await expect(migrate(database, 2, { migrations: [adds] })).rejects.toThrow(
        'too old to work beside (it needs stops using)',
      );
      expect((await readSchema(database, 'sqlite', [adds])).required).toEqual(['stops using']);
      await database.destroy();
    });
  });

  it('is left as it is if it may not be changed, also if it is new', async () => {
    const database = open();
    const migrations = [{ name: 'one', async up() {} }];
    await expect(migrate(database, 1, { migrations, mayChange: false })).rejects.toThrow(
      'lacks 1 migration (one), and DATABASE_MIGRATE=false',
    );
    expect(await sql`select name from sqlite_master`.execute(database)).toMatchObject({ rows: [] });
    await migrate(database, 1, { migrations });
    await migrate(database, 1, { migrations, mayChange: false });
    await database.destroy();
  });
});
