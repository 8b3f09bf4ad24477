import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DatabaseUnavailable } from '../database-unavailable.ts';
import { SqliteThread } from './sqlite-thread.ts';
import { SqliteWriter } from './sqlite-writer.ts';

describe('SqliteWriter', () => {
  let directory: string;
  let threads: SqliteThread[];
  let writer: SqliteWriter;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'sqlite-'));
    threads = [];
    writer = new SqliteWriter({
      path: join(directory, 'x.sqlite'),
      openThread: () => {
        const settings = { file: join(directory, 'x.sqlite'), busyMs: 100, pragmas: ['journal_mode = WAL'] };
        const thread = new SqliteThread(settings);
        threads.push(thread);
        return thread;
      },
      warn: () => {},
    });
    await inTurn('create table t (a integer not null)');
  });

  afterEach(async () => {
    await writer.close();
    rmSync(directory, { recursive: true });
  });

  async function inTurn(statement: string) {
    const turn = await writer.takeTurn();
    try {
      return await turn.run(statement);
    } finally {
      turn.end();
    }
  }

  it('keeps one thread, and gives back rows and how many were changed', async () => {
    expect(await inTurn('insert into t values (1), (2)')).toEqual({ rows: [], changes: 2 });
    expect(await inTurn('select a from t')).toEqual({ rows: [{ a: 1n }, { a: 2n }], changes: 0 });
    expect(threads).toHaveLength(1);
  });

  it('replaces a thread that ended; its open transaction is rolled back and not continued', async () => {
    const turn = await writer.takeTurn();
    await turn.run('begin immediate');
    await turn.run('insert into t values (1)');
    await threads[0]?.close();
    await expect(turn.run('insert into t values (2)')).rejects.toThrow(DatabaseUnavailable);
    await turn.rollback();
    turn.end();
    expect(await inTurn('select a from t')).toEqual({ rows: [], changes: 0 });
    await inTurn('insert into t values (3)');
    expect(threads).toHaveLength(2);
  });

  it('rejects statements of a thread that ends without an answer', async () => {
    const turn = await writer.takeTurn();
    void threads[0]?.close();
    await expect(turn.run('insert into t values (1)')).rejects.toThrow(DatabaseUnavailable);
    turn.end();
    expect(await inTurn('select a from t')).toEqual({ rows: [], changes: 0 });
  });

  it('reports the error of a statement, and goes on', async () => {
    await expect(inTurn('insert into t values (null)')).rejects.toMatchObject({
      message: expect.stringContaining('NOT NULL constraint failed'),
      code: 'SQLITE_CONSTRAINT_NOTNULL',
    });
    await expect(inTurn('no statement')).rejects.toMatchObject({ code: 'SQLITE_ERROR' });
    await inTurn('insert into t values (1)');
    expect(threads).toHaveLength(1);
  });

  it('runs a statement for each of many rows, all or none', async () => {
    const insertAll = async (rows: readonly unknown[][]) => {
      const turn = await writer.takeTurn();
      await turn.runForEach('insert into t values (?)', rows).finally(() => turn.end());
    };
    await insertAll([[1], [2n]]);
    await expect(insertAll([[3], [null]])).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_NOTNULL' });
    await insertAll([[4]]);
    expect(await inTurn('select a from t')).toEqual({ rows: [{ a: 1n }, { a: 2n }, { a: 4n }], changes: 0 });
    expect(threads).toHaveLength(1);
  });

  it('starts no thread once it is closed', async () => {
    await writer.close();
    await expect(inTurn('select a from t')).rejects.toThrow(DatabaseUnavailable);
    expect(threads).toHaveLength(1);
  });
});
