import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../test/adapters/contracts/temporary-directory.ts';
import type { RowPlace } from '../../../ports/following/settled-rows.ts';
import type { StoredGeneration } from '../../../ports/generations/generations.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import type { SqliteDatabase } from '../sqlite/sqlite-database.ts';
import { AddedGenerations } from './added-generations.ts';
import { sqliteGenerationStore } from './sql-generation-store.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let database: SqliteDatabase;

beforeEach(async () => {
  directory = temporaryDirectory();
  database = await openSqlite(join(directory.path, 'rows.sqlite'), 1, { readsApart: true });
});

afterEach(async () => {
  await database.destroy();
  directory.remove();
});

const rowOf = (id: string, settledAtMs: number): StoredGeneration => ({
  id,
  scopes: { key: 'k', workspace: 'w', account: 'a' },
  settledAtMs,
  charge: { creditNanos: 1n, byokNanos: 0n },
  writtenOffNanos: 0n,
  writtenOffCause: null,
  row: { id },
});

const add = (...rows: StoredGeneration[]) => sqliteGenerationStore(database).add(rows);

async function allBehind(place: RowPlace | null, limit: number) {
  const ids: string[] = [];
  let reached = place;
  for (;;) {
    const page = await new AddedGenerations(database).behind(reached, limit);
    if (page === undefined) return undefined;
    ids.push(...page.generations.map(({ id }) => id));
    reached = page.place;
    if (page.generations.length < limit) return { ids, place: reached };
  }
}

it('reads rows in the order in which they were added, whatever their times are', async () => {
  const rows = new AddedGenerations(database);
  expect(await rows.end()).toBe(null);
  expect(await rows.behind(null, 10)).toEqual({ generations: [], place: null });
  await add(rowOf('c', 500), rowOf('b', 400), rowOf('known', 1));
  const first = await allBehind(null, 2);
  expect(first?.ids).toEqual(['c', 'b', 'known']);
  expect(first?.place).toBe(await rows.end());
  await add(rowOf('known', 1), rowOf('a', 100));
  expect(await rows.count(first?.place ?? null)).toBe(1);
  expect(await allBehind(first?.place ?? null, 2)).toEqual({ ids: ['a'], place: await rows.end() });
  expect((await rows.behind(null, 1))?.generations).toEqual([rowOf('c', 500)]);
});

it('says where rows end that were just added, whether or not more are being added', async () => {
  const rows = new AddedGenerations(database);
  await add(rowOf('a', 1));
  const place = await rows.end();
  const added = [rowOf('c', 3), rowOf('b', 2)];
  await add(...added);
  expect(await rows.endOf(place, added)).toBe(await rows.end());
  expect(await rows.endOf(place, [rowOf('a', 1), ...added])).toBeUndefined();
  const first = await rows.endOf(place, added.slice(0, 1));
  expect(first).toBeDefined();
  expect(await rows.endOf(first ?? null, added.slice(1))).toBe(await rows.end());
  expect(await rows.endOf(place, added.slice(1))).toBeUndefined();
  expect(await rows.endOf(null, added)).toBeUndefined();
  await sqliteGenerationStore(database).prune(2, 1);
  expect(await rows.endOf(place, added)).toBeUndefined();
});

it('does not go on behind a row that is gone, because its number may be given again', async () => {
  const rows = new AddedGenerations(database);
  await add(rowOf('old', 1), rowOf('older', 2));
  const place = await rows.end();
  await sqliteGenerationStore(database).prune(10, 10);
  expect(await rows.behind(place, 10)).toBeUndefined();
  await add(rowOf('new', 3), rowOf('newer', 4), rowOf('newest', 5));
  expect(await rows.behind(place, 10)).toBeUndefined();
  expect((await allBehind(null, 10))?.ids).toEqual(['new', 'newer', 'newest']);
});

it('keeps places over the removal of earlier rows, and in a copy of the database', async () => {
  await add(...Array.from({ length: 20 }, (_, index) => rowOf(`g${index}`, index)));
  const { place = null } = (await new AddedGenerations(database).behind(null, 15)) ?? {};
  await sqliteGenerationStore(database).prune(10, 100);
  const behind = ['g15', 'g16', 'g17', 'g18', 'g19'];
  expect((await allBehind(place, 2))?.ids).toEqual(behind);
  const copy = join(directory.path, 'copy.sqlite');
  await sql`vacuum into ${copy}`.execute(database);
  await database.destroy();
  database = await openSqlite(copy, 1);
  expect((await allBehind(place, 2))?.ids).toEqual(behind);
});
