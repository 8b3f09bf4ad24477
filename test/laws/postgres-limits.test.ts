import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { LIMIT_WINDOWS } from '../../src/kit/windows.ts';
import { refusalOf } from '../../src/store/ledger/limits.ts';
import { reserveNew } from '../../src/store/sql/ledger/reservation-statements.ts';
import {
  addTallies,
  emptyTally,
  keysOf,
  nameOf,
  type SqlTally,
  standingsOf,
  writeTallies,
} from '../../src/store/sql/ledger/tally-rows.ts';
import { openPostgres } from '../../src/store/sql/open-postgres.ts';
import { addressOf, postgresForTests } from '../postgres/postgres-server.ts';

const server = await postgresForTests();

const SCOPES = { key: 'k', workspace: 'w', account: 'a' };

/** Few values, so that sums meet their limits, pass them and stay below. */
const nanos = fc.bigInt(0n, 12n);
const amount = fc.record({ creditNanos: nanos, byokNanos: nanos });
const sums = fc.record({ lifetime: nanos, daily: nanos, weekly: nanos, monthly: nanos });
const windows = fc.record({
  daily: fc.integer({ min: 10, max: 13 }),
  weekly: fc.integer({ min: 10, max: 13 }),
  monthly: fc.integer({ min: 10, max: 13 }),
});
const limit = fc.record({
  window: fc.constantFrom(...LIMIT_WINDOWS),
  nanos: fc.bigInt(0n, 30n),
  countsByok: fc.boolean(),
});
const limits = fc.array(limit, { maxLength: 3 });
const tally = fc.record({
  spending: fc.record({ windows, credit: sums, byok: sums }),
  reserved: amount,
  balance: fc.record({
    grantedNanos: fc.bigInt(0n, 40n),
    isEnforced: fc.boolean(),
    leftNanos: fc.constant(0n),
  }),
});

if (server !== undefined) {
  const { database, close } = await openPostgres(addressOf(await server.createDatabase()), { nowMs: 1 });
  afterAll(close);

  it('the statement that reserves judges as the limits of the embedded ledger do', async () => {
    await addTallies(database, keysOf(SCOPES));
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(tally, tally, tally),
        fc.record({ key: limits, workspace: limits }),
        amount,
        windows,
        async (given, asked, wanted, now) => {
          count += 1;
          const tallies: SqlTally[] = keysOf(SCOPES).map((key, index) => ({
            ...emptyTally(key),
            ...given[index],
          }));
          await writeTallies(database, tallies);
          const known = new Map(tallies.map((each) => [nameOf(each), each]));
          const refusal = refusalOf(standingsOf(SCOPES, asked, known, now), wanted);
          const verdict = await reserveNew(
            database,
            { generationId: `g${count}`, scopes: SCOPES, limits: asked, amount: wanted, windows: now },
            { gatewayId: 'one', lastsMs: 1 },
          );
          expect(verdict).toBe(refusal === undefined ? 'reserved' : 'passed');
        },
      ),
      { numRuns: 400 },
    );
  });
}
