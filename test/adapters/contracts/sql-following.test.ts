import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copySqlite } from '../../../src/store/backup/copy-sqlite.ts';
import { SqlFollowerNotes } from '../../../src/store/following/sql-follower-notes.ts';
import { SqlSpooledContents } from '../../../src/store/following/sql-spooled-contents.ts';
import { SqliteSettledRows } from '../../../src/store/following/sqlite-settled-rows.ts';
import { openSqlite } from '../../../src/store/sql/sqlite/open-sqlite.ts';
import { sqliteGenerationStore } from '../../../src/store/sql/stores/sql-generation-store.ts';
import { followerNotesContract } from './follower-notes.ts';
import { readAll, settledIn, settledRowsContract } from './settled-rows.ts';
import { spooledContentsContract } from './spooled-contents.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const emptied = sqliteForTests();

settledRowsContract('SqliteSettledRows', async () => {
  const database = await emptied();
  return {
    rows: new SqliteSettledRows(database),
    generations: sqliteGenerationStore(database),
    close: async () => {},
  };
});

followerNotesContract('SqlFollowerNotes', async () => ({
  notes: SqlFollowerNotes.embedded(await emptied()),
  close: async () => {},
}));

spooledContentsContract('SqlSpooledContents', async () => {
  const database = await emptied();
  return {
    spool: (clock, warn) => new SqlSpooledContents(database, { clock, warn }),
    close: async () => {},
  };
});

it('keeps places of an embedded database through a backup of it', async () => {
  const directory = temporaryDirectory();
  const [original, copy] = ['a.sqlite', 'b.sqlite'].map((name) => join(directory.path, name)) as [
    string,
    string,
  ];
  const first = await openSqlite(original, 1);
  const before = sqliteGenerationStore(first);
  const rows = new SqliteSettledRows(first);
  const begin = await rows.begin('w', 0);
  await before.add(['a', 'b', 'c', 'd'].map((id, index) => settledIn('w', id, 100 + index)));
  const until = await rows.end();
  const place = await rows.skip({ workspaceId: 'w', behind: begin, until }, 3);
  // The numbers of the rows left do not begin at 1.
  await rows.release(new Map([['w', [place]]]));
  await before.prune(103, 10);
  await first.destroy();
  expect(await copySqlite(original, copy)).toBe(true);
  const second = await openSqlite(copy, 1);
  const restored = new SqliteSettledRows(second);
  expect((await readAll(restored, 'w', place)).ids).toEqual(['d']);
  await restored.release(new Map([['w', [await restored.end()]]]));
  await sqliteGenerationStore(second).prune(1_000, 10);
  await sqliteGenerationStore(second).add([settledIn('w', 'e', 1)]);
  expect((await readAll(restored, 'w', until)).ids).toEqual(['e']);
  await second.destroy();
  directory.remove();
});
