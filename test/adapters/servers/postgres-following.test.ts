import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { PostgresSettledRows } from '../../../src/store/following/postgres-settled-rows.ts';
import { SqlFollowerNotes } from '../../../src/store/following/sql-follower-notes.ts';
import { SqlSpooledContents } from '../../../src/store/following/sql-spooled-contents.ts';
import { openPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import { generationRowOf, SqlGenerationStore } from '../../../src/store/sql/stores/sql-generation-store.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';
import { followerNotesContract } from '../contracts/follower-notes.ts';
import { readAll, settledIn, settledRowsContract } from '../contracts/settled-rows.ts';
import { spooledContentsContract } from '../contracts/spooled-contents.ts';

const server = await postgresForTests();

if (server !== undefined) {
  const open = async () => openPostgres(addressOf(await server.emptyDatabase()), { nowMs: 1 });

  settledRowsContract('PostgresSettledRows', async () => {
    const { database, close } = await open();
    return { rows: new PostgresSettledRows(database), generations: new SqlGenerationStore(database), close };
  });

  followerNotesContract('SqlFollowerNotes on PostgreSQL', async () => {
    const { database, close } = await open();
    return { notes: SqlFollowerNotes.shared(database), close };
  });

  spooledContentsContract('SqlSpooledContents on PostgreSQL', async () => {
    const { database, close } = await open();
    return { spool: (clock, warn) => new SqlSpooledContents(database, { clock, warn }), close };
  });

  describe('followers of several gateways', () => {
    it('are run by one gateway at a time, and only it notes', async () => {
      const { database, close } = await open();
      const [one, other] = [SqlFollowerNotes.shared(database), SqlFollowerNotes.shared(database)];
      const note = {
        place: 'p',
        taken: 1,
        dropped: 0,
        waiting: 0,
        problem: null,
        problemSinceMs: null,
        updatedAtMs: 1,
      };
      expect(await one.takeTurn()).toBe(true);
      expect(await other.takeTurn()).toBe(false);
      expect(await one.note('f', note)).toBe(true);
      expect(await other.note('f', { ...note, place: 'q' })).toBe(false);
      await other.forget('f');
      await other.endTurn();
      expect(await one.takeTurn()).toBe(true);
      await one.endTurn();
      expect(await other.takeTurn()).toBe(true);
      expect(await one.takeTurn()).toBe(false);
      expect(await one.note('f', { ...note, place: 'r' })).toBe(false);
      expect((await other.listAll()).get('f')?.place).toBe('p');
      await close();
    });

    it('wait for a transaction that began earlier and commits late', async () => {
      const { database, background, close } = await open();
      const rows = new PostgresSettledRows(database);
      const store = new SqlGenerationStore(database);
      let place = '';
      await background.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('generations')
          .values(generationRowOf(settledIn('w', 'late', 150)))
          .execute();
        await store.add([settledIn('w', 'early', 200)]);
        // A follower that begins now must not miss the one that is not visible yet.
        place = await rows.begin('w', 100);
        expect((await readAll(rows, 'w', place)).ids).toEqual([]);
      });
      expect((await readAll(rows, 'w', place)).ids).toEqual(['late', 'early']);
      await close();
    });

    it('go on where they were on a server with other transaction numbers', async () => {
      const { database, close } = await open();
      const rows = new PostgresSettledRows(database);
      const store = new SqlGenerationStore(database);
      await store.add(['a', 'b', 'c'].map((id, index) => settledIn('w', id, 100 + index)));
      const until = await rows.end();
      const begin = await rows.begin('w', 0);
      const place = await rows.skip({ workspaceId: 'w', behind: begin, until }, 2);
      // As if both came with a dump from a server that was far ahead.
      await sql`update generations set booked_in = '900000000000'`.execute(database);
      const [, , ...rest] = JSON.parse(place) as string[];
      const elsewhere = JSON.stringify(['other/1', '900000000000', ...rest]);
      await rows.read({ workspaceId: 'w', behind: elsewhere, until: await rows.end() }, 1);
      const { ids, place: reached } = await readAll(rows, 'w', elsewhere);
      expect(ids).toEqual(['b', 'c']);
      await store.add([settledIn('w', 'd', 50)]);
      expect((await readAll(rows, 'w', reached)).ids).toEqual(['d']);
      await close();
    });
  });
}
