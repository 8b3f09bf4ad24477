import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf, DatabaseUnavailable } from '../database-unavailable.ts';
import { SqlTenancy } from '../stores/sql-tenancy.ts';
import type { Tables } from '../tables.ts';
import { emptyWriteLog, openSqlite } from './open-sqlite.ts';

describe('the embedded database', () => {
  let directory: string;
  let file: string;
  let database: Kysely<Tables>;
  let told: string[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'sqlite-'));
    file = join(directory, 'x.sqlite');
    told = [];
    database = await openSqlite(file, 1, { readsApart: true, warn: (message) => told.push(message) });
  });

  afterEach(async () => {
    await database.destroy();
    rmSync(directory, { recursive: true });
  });

  const addAccount = (id: string, name = id) =>
    database.insertInto('accounts').values({ id, name, created_at_ms: 1 }).execute();

  const failureOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  describe('while another process is writing', () => {
    let other: Database.Database;

    beforeEach(() => {
      other = new Database(file);
      other.exec('begin immediate');
    });

    afterEach(() => {
      if (other.inTransaction) other.exec('rollback');
      other.close();
    });

    it('delays no reads, and refuses writes after a moment', async () => {
      let longestMs = 0;
      let last = performance.now();
      const ticking = setInterval(() => {
        longestMs = Math.max(longestMs, performance.now() - last);
        last = performance.now();
      }, 5);
      const failures = await Promise.all([
        failureOf(addAccount('late')),
        database.selectFrom('accounts').selectAll().execute(),
      ]);
      clearInterval(ticking);
      expect(failures).toEqual([expect.any(DatabaseUnavailable), []]);
      expect(codeOf((failures[0] as Error).cause)).toBe('SQLITE_BUSY');
      expect(failures[0]).toMatchObject({ kind: 'overloaded', retryAfterSeconds: 1 });
      expect(longestMs).toBeLessThan(500);
    });

    it('reports the end of the outage although nothing is written', async () => {
      expect(await failureOf(addAccount('late'))).toBeInstanceOf(DatabaseUnavailable);
      expect(told).toEqual(['the database cannot be written; requests that need it are refused']);
      other.exec('rollback');
      await expect
        .poll(() => told.slice(1), { timeout: 20_000 })
        .toEqual(['the database can be written again']);
    });

    it('waits until the other is done, and sees what both did', async () => {
      other.exec("insert into accounts values ('other', 'other', 1)");
      const added = addAccount('own');
      setTimeout(() => other.exec('commit'), 100);
      await added;
      const rows = await database.selectFrom('accounts').select('id').orderBy('id').execute();
      expect(rows).toEqual([{ id: 'other' }, { id: 'own' }]);
    });
  });

  describe('on a disk that is full', () => {
    const fill = async () => {
      const { rows } = await sql<{ page_count: bigint }>`PRAGMA page_count`.execute(database);
      await sql`PRAGMA max_page_count = ${sql.lit(Number(rows[0]?.page_count))}`.execute(database);
    };
    const free = () => sql`PRAGMA max_page_count = 100000`.execute(database);
    const large = 'x'.repeat(100_000);

    it.each([
      ['a statement', () => addAccount('large', large)],
      [
        'a transaction',
        () =>
          database.transaction().execute(async (transaction) => {
            for (const id of ['one', 'large']) {
              await transaction
                .insertInto('accounts')
                .values({ id, name: id === 'large' ? large : id, created_at_ms: 1 })
                .execute();
            }
          }),
      ],
    ])(
      'refuses %s for what it is, undoes it, tells it once, and goes on when there is room',
      async (_, write) => {
        await fill();
        for (let tries = 0; tries < 3; tries++) {
          const failure = await failureOf(write());
          expect(failure).toBeInstanceOf(DatabaseUnavailable);
          expect(codeOf((failure as Error).cause)).toBe('SQLITE_FULL');
        }
        expect(await new SqlTenancy(database).listAccounts()).toEqual([]);
        expect(told).toEqual(['the database cannot be written; requests that need it are refused']);
        await free();
        await write();
        await expect
          .poll(() => told.slice(1), { timeout: 20_000 })
          .toEqual(['the database can be written again']);
      },
    );
  });

  it('runs writers one after another: no transaction sees half of another', async () => {
    const change = (id: string) =>
      database.transaction().execute(async (transaction) => {
        const { total } = await transaction
          .selectFrom('accounts')
          .select((select) => select.fn.countAll().as('total'))
          .executeTakeFirstOrThrow();
        await transaction
          .insertInto('accounts')
          .values({ id, name: String(total), created_at_ms: 1 })
          .execute();
      });
    await Promise.all(Array.from({ length: 20 }, (_, index) => change(`a${index}`)));
    const rows = await database.selectFrom('accounts').select('name').execute();
    expect(rows.map(({ name }) => Number(name)).sort((a, b) => a - b)).toEqual([...Array(20).keys()]);
  });

  it('rolls back a transaction that fails, and throws its error', async () => {
    const failing = database.transaction().execute(async (transaction) => {
      await transaction.insertInto('accounts').values({ id: 'a', name: 'a', created_at_ms: 1 }).execute();
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await new SqlTenancy(database).listAccounts()).toEqual([]);
    await expect(addAccount('a').then(() => addAccount('a'))).rejects.toMatchObject({
      code: 'SQLITE_CONSTRAINT_UNIQUE',
    });
    expect(told).toEqual([]);
  });

  it('empties the write-ahead log during a read', async () => {
    await addAccount('a');
    await database.selectFrom('accounts').selectAll().execute();
    await emptyWriteLog(database);
    const { rows } = await sql<{ log: bigint }>`PRAGMA wal_checkpoint`.execute(database);
    expect(Number(rows[0]?.log)).toBe(0);
  });

  it('leaves everything in the file itself when it is closed', async () => {
    await addAccount('a');
    await database.selectFrom('accounts').selectAll().execute();
    await database.destroy();
    const copy = join(directory, 'copy.sqlite');
    copyFileSync(file, copy);
    database = await openSqlite(copy, 2);
    expect(await new SqlTenancy(database).listAccounts()).toHaveLength(1);
  });

  it('rejects statements after it was closed', async () => {
    await database.selectFrom('accounts').selectAll().execute();
    const closed = database.destroy();
    await expect(addAccount('late')).rejects.toThrow();
    await closed;
    database = await openSqlite(file, 2);
    expect(await new SqlTenancy(database).listAccounts()).toEqual([]);
  });
});
