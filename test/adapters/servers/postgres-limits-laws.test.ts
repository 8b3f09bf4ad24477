import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import {
  boundsAt,
  LIMIT_WINDOWS,
  RESET_WINDOWS,
  type ResetWindow,
  type WindowNumbers,
  windowsAt,
} from '../../../src/kit/time/windows.ts';
import { chargeWithin, refusalOf } from '../../../src/store/ledger/books/limits.ts';
import { bookEnds } from '../../../src/store/ledger/postgres/booking/book-ends.ts';
import { isBooked } from '../../../src/store/ledger/postgres/booking/booked-ends.ts';
import { readJournals } from '../../../src/store/ledger/postgres/booking/journal-rows.ts';
import { windowNumbersAt } from '../../../src/store/ledger/postgres/tallies/database-clock.ts';
import { askExtension, askReservation } from '../../../src/store/ledger/postgres/tallies/reservation-sql.ts';
import {
  addTallies,
  emptyTally,
  type SqlTally,
  standingsOf,
  tallyKeysOf,
  tallyName,
  writeTallies,
} from '../../../src/store/ledger/postgres/tallies/tally-rows.ts';
import { openPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';

const server = await postgresForTests();

const SCOPES = { key: 'k', workspace: 'w', account: 'a' };
const HOLDER = { gatewayId: 'one', lastsMs: 1 };
const clock = () => sql<string>`${String(NOW)}::bigint`;

/** Few values, so that sums meet their limits, pass them and stay below. */
const nanos = fc.bigInt(0n, 12n);
const amount = fc.record({ creditNanos: nanos, byokNanos: nanos });
const sums = fc.record({ lifetime: nanos, daily: nanos, weekly: nanos, monthly: nanos });
/** A few windows around that moment: some are over, some have only just begun, some are of a clock that was ahead. */
const NOW = Date.parse('2025-06-15T12:00:00Z');
const NOW_WINDOWS = windowsAt(NOW);
const offset = fc.integer({ min: -2, max: 2 });
const windows = fc.record({ daily: offset, weekly: offset, monthly: offset }).map(
  ({ daily, weekly, monthly }): WindowNumbers => ({
    daily: NOW_WINDOWS.daily + daily,
    weekly: NOW_WINDOWS.weekly + weekly,
    monthly: NOW_WINDOWS.monthly + monthly,
  }),
);
const moments = fc.integer({
  min: Date.parse('1971-01-01T00:00:00Z'),
  max: Date.parse('2199-12-31T00:00:00Z'),
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
    await addTallies(database, tallyKeysOf(SCOPES));
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(tally, tally, tally),
        fc.record({ key: limits, workspace: limits }),
        amount,
        async (given, asked, wanted) => {
          count += 1;
          const tallies: SqlTally[] = tallyKeysOf(SCOPES).map((key, index) => ({
            ...emptyTally(key),
            ...given[index],
          }));
          await writeTallies(database, tallies);
          const known = new Map(tallies.map((each) => [tallyName(each), each]));
          const refusal = refusalOf(standingsOf(SCOPES, asked, known, NOW_WINDOWS), wanted);
          const request = { id: `g${count}`, scopes: SCOPES, limits: asked, amount: wanted };
          const { verdict } = await askReservation(database, 'new', request, HOLDER, clock);
          expect(verdict).toBe(refusal === undefined ? 'reserved' : 'refused');
        },
      ),
      { numRuns: 400 },
    );
  });

  it('the statement that extends charges as the embedded ledger does', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(tally, tally, tally),
        fc.record({ key: limits, workspace: limits }),
        amount,
        amount,
        async (given, asked, reserved, used) => {
          count += 1;
          const id = `e${count}`;
          const paying = { id, scopes: SCOPES, limits: { key: [], workspace: [] } };
          await writeTallies(database, tallyKeysOf(SCOPES).map(emptyTally));
          await askReservation(database, 'new', { ...paying, amount: reserved }, HOLDER, clock);
          const tallies: SqlTally[] = tallyKeysOf(SCOPES).map((key, index) => ({
            ...emptyTally(key),
            ...given[index],
          }));
          await writeTallies(database, tallies);
          const known = new Map(tallies.map((each) => [tallyName(each), each]));
          const { charge, isHeld } = await askExtension(
            database,
            { ...paying, limits: asked, amount: used },
            undefined,
            clock,
          );
          expect(isHeld).toBe(true);
          expect(charge).toEqual(
            chargeWithin(standingsOf(SCOPES, asked, known, NOW_WINDOWS), reserved, used),
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  it('booked ends are those of all batches and no other, in any order, answered or not', async () => {
    const batch = fc.record({
      /** Ends that the gateway has by then. */
      ended: fc.nat(5),
      picks: fc.array(fc.nat(20), { maxLength: 6 }),
      isAnswered: fc.boolean(),
    });
    let gateways = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { maxLength: 8 }), async (history) => {
        const gatewayId = `gateway-${gateways++}`;
        let last = 0;
        let waiting: number[] = [];
        const expected = new Set<number>();
        for (const { ended, picks, isAnswered } of history) {
          // Records of other kinds have sequences too.
          for (let number = 0; number < ended; number++) {
            last += 1 + (number % 2);
            waiting.push(last);
          }
          const chosen = new Set(picks.map((pick) => waiting[pick % Math.max(1, waiting.length)] ?? 0));
          const sequences = waiting.filter((sequence) => chosen.has(sequence));
          const others = waiting.filter((sequence) => !chosen.has(sequence));
          if (sequences.length === 0) continue;
          const ends = sequences.map((sequence) => ({
            generationId: `${gatewayId}-${sequence}`,
            sequence,
            scopes: SCOPES,
            limits: { key: [], workspace: [] },
            settled: undefined,
          }));
          await bookEnds(database, { gatewayId, ends, waiting: others, clock });
          for (const sequence of sequences) expected.add(sequence);
          if (isAnswered) waiting = others;
          const booked = (await readJournals(database)).get(gatewayId);
          for (const sequence of [...waiting, ...expected]) {
            expect(booked && isBooked(booked, sequence), `end ${sequence}`).toBe(expected.has(sequence));
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it('the database numbers windows as the gateway does', async () => {
    const numbersOf = async (ms: number) => {
      const { daily, weekly, monthly } = windowNumbersAt(sql.ref('given.ms'));
      const { rows } = await sql<Record<ResetWindow, string>>`
        select ${daily} as daily, ${weekly} as weekly, ${monthly} as monthly
        from (select ${String(ms)}::bigint as ms) given`.execute(database);
      return Object.fromEntries(RESET_WINDOWS.map((name) => [name, Number(rows[0]?.[name])]));
    };
    await fc.assert(
      fc.asyncProperty(moments, fc.constantFrom(...RESET_WINDOWS), async (ms, window) => {
        const { startMs, endMs } = boundsAt(window, ms);
        for (const each of [ms, startMs, endMs - 1]) expect(await numbersOf(each)).toEqual(windowsAt(each));
      }),
      { numRuns: 100 },
    );
  });
}
