import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StoredGeneration } from '../../../src/ports/generations/generations.ts';
import { type OpenedPostgres, openPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import {
  BEFORE_ALL,
  type BookedPosition,
  bookedAfter,
  resetFutureBookings,
} from '../../../src/store/sql/stores/booked-generations.ts';
import { generationRowOf, SqlGenerationStore } from '../../../src/store/sql/stores/sql-generation-store.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';

const server = await postgresForTests();

const generation = (id: string, settledAtMs = 1_790_000_000_000): StoredGeneration => ({
  id,
  scopes: { account: 'a', workspace: 'w', key: 'k' },
  settledAtMs,
  charge: { creditNanos: 9_007_199_254_740_993n, byokNanos: 0n },
  writtenOffNanos: 0n,
  writtenOffCause: null,
  row: { model: 'm' },
});

if (server !== undefined) {
  describe('generations in the order in which they were booked', () => {
    let postgres: OpenedPostgres;
    let store: SqlGenerationStore;

    beforeEach(async () => {
      postgres = await openPostgres(addressOf(await server.emptyDatabase()), { nowMs: 1 });
      store = new SqlGenerationStore(postgres.database);
    });

    afterEach(() => postgres.close());

    /** Ids behind a place, page by page, and where they end. */
    const all = async (from: BookedPosition, limit = 2) => {
      const ids: string[] = [];
      let place = from;
      for (;;) {
        const { generations, end } = await bookedAfter(postgres.database, place, limit);
        ids.push(...generations.map(({ id }) => id));
        if (end === undefined) return { ids, place };
        place = end;
      }
    };

    it('come page by page, complete, for any times and ids', async () => {
      await store.add([generation('z', 300)]);
      await store.add([generation('c', 200), generation('b', 200), generation('a', 250)]);
      await store.add([generation('k', 100)]);
      const { ids, place } = await all(BEFORE_ALL);
      expect(ids).toEqual(['z', 'b', 'c', 'a', 'k']);
      await store.add([generation('0', 1)]);
      expect((await all(place)).ids).toEqual(['0']);
      const { generations, history } = await bookedAfter(postgres.database, BEFORE_ALL, 1);
      expect(generations).toEqual([generation('z', 300)]);
      expect(history).toMatch(/^\d+\/\d+$/);
    });

    it('are an empty page if there are none', async () => {
      expect(await bookedAfter(postgres.database, BEFORE_ALL, 10)).toMatchObject({
        generations: [],
        end: undefined,
        history: expect.stringMatching(/./),
      });
    });

    it('wait for a transaction that began earlier and commits late', async () => {
      let commit = () => {};
      const mayCommit = new Promise<void>((resolve) => {
        commit = resolve;
      });
      let began = () => {};
      const hasBegun = new Promise<void>((resolve) => {
        began = resolve;
      });
      const late = postgres.background.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('generations')
          .values(generationRowOf(generation('late')))
          .execute();
        began();
        await mayCommit;
      });
      await hasBegun;
      await store.add([generation('early')]);
      const { ids, place } = await all(BEFORE_ALL);
      commit();
      await late;
      expect(ids).toEqual([]);
      expect((await all(place)).ids).toEqual(['late', 'early']);
    });

    it('are read from the beginning with rows that were stored before the numbering', async () => {
      await store.add([generation('new', 50)]);
      await store.add([generation('old', 200), generation('older', 100)]);
      await sql`update generations set booked_in = '0' where id <> 'new'`.execute(postgres.database);
      expect((await all(BEFORE_ALL)).ids).toEqual(['older', 'old', 'new']);
    });

    it('from a server with higher transaction numbers are read once they are adopted', async () => {
      await store.add([generation('ours'), generation('theirs')]);
      await sql`update generations set booked_in = '900000000000' where id = 'theirs'`.execute(
        postgres.database,
      );
      const { ids, place } = await all(BEFORE_ALL);
      expect(ids).toEqual(['ours']);
      await resetFutureBookings(postgres.database);
      expect((await all(BEFORE_ALL)).ids).toEqual(['theirs', 'ours']);
      expect((await all(place)).ids).toEqual([]);
    });
  });
}
