import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { openPostgresState } from '../../../src/store/open-postgres-state.ts';
import { LedgerBench } from '../../kit/servers/ledger-bench.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';

const server = await postgresForTests();

if (server !== undefined) {
  describe('PostgreSQL for a data directory with an embedded database', () => {
    it('is used, and a gateway warns of the data that it leaves behind', async () => {
      const bench = await LedgerBench.open(server);
      const directory = bench.directory();
      /** The warnings of a gateway, or of a command, that starts and ends. */
      const warningsOf = async (isGateway: boolean) => {
        const warnings: string[] = [];
        const state = await openPostgresState({
          directory,
          database: bench.address,
          waitsForDatabase: false,
          isGateway,
          retentionMs: () => 86_400_000,
          generationMs: () => 60_000,
          durability: () => 'process',
          clock: systemClock,
          warn: (message, fields = {}) => warnings.push(`${message} ${JSON.stringify(fields)}`),
        });
        await state.close();
        return warnings;
      };
      expect(await warningsOf(true)).toEqual([]);
      const path = join(directory, 'signalbox.sqlite');
      writeFileSync(path, '');
      expect(await warningsOf(true)).toEqual([
        expect.stringMatching(
          /^the data directory has an embedded database, which is not used: .*DATABASE_URL/,
        ),
      ]);
      expect((await warningsOf(true)).join()).toContain(path);
      expect(await warningsOf(false)).toEqual([]);
      await bench.close();
    });
  });
}
