import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import { type OpenedPostgres, openPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';
import { temporaryDirectory } from '../contracts/temporary-directory.ts';

const server = await postgresForTests();

if (server !== undefined) {
  describe('of books on PostgreSQL', () => {
    let directory: ReturnType<typeof temporaryDirectory>;
    let opened: OpenedPostgres;

    beforeEach(async () => {
      directory = temporaryDirectory();
      const url = await server.createDatabase();
      vi.stubEnv('DATABASE_URL', url);
      opened = await openPostgres(addressOf(url), { nowMs: 1 });
      await typed('accounts', 'create', 'Team');
    });

    afterEach(async () => {
      vi.unstubAllEnvs();
      await opened.close();
      directory.remove();
    });

    const typed = async (...words: string[]) => {
      let out = '';
      const flags = ['--data-dir', join(directory.path, 'data')];
      const code = await run([...words, ...flags], {
        out: (text) => {
          out += text;
        },
        err: (text) => {
          out += text;
        },
      });
      return { code: code ?? 0, out };
    };

    it('ledger verify and doctor say in which figure they are wrong, and exit 1', async () => {
      expect(await typed('ledger', 'verify')).toMatchObject({
        code: 0,
        out: expect.stringContaining('The books are right.'),
      });
      const { database } = opened;
      const { id } = await database
        .selectFrom('accounts')
        .select('id')
        .where('name', '=', 'Team')
        .executeTakeFirstOrThrow();
      await sql`insert into ledger_grants (account_id, number, granted_nanos, granted_at_ms) values (${id}, 1, 0, 1)`.execute(
        database,
      );
      expect(await typed('ledger', 'verify')).toMatchObject({
        code: 1,
        out: expect.stringContaining('WRONG for Team: the sums and the balance of the account are missing'),
      });
      expect((await typed('doctor')).out).toContain(
        `the sums and the balance of the account ${id} are missing`,
      );
      await sql`insert into ledger_tallies (scope, id, reserved_byok) values ('account', ${id}, 3)`.execute(
        database,
      );
      expect(await typed('ledger', 'verify')).toMatchObject({
        code: 1,
        out: expect.stringMatching(/WRONG for Team: .* more or less reserved in ledger_tallies/),
      });
      expect(await typed('doctor')).toMatchObject({
        code: 1,
        out: expect.stringContaining(`the reserved amount of the account ${id}`),
      });
      await sql`update ledger_tallies set reserved_byok = 0, byok_lifetime = 4`.execute(database);
      const { out } = await typed('ledger', 'verify', '--json');
      expect(JSON.parse(out).accounts).toContainEqual(
        expect.objectContaining({ name: 'Team', fault: 'byok', difference_nanos: -4 }),
      );
    });
  });
}
