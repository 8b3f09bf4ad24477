import { type RawBuilder, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LIMIT_WINDOWS, RESET_WINDOWS } from '../../../src/kit/time/windows.ts';
import {
  type BenchLedger,
  generation,
  LedgerBench,
  NO_LIMITS,
  SCOPES,
  use,
} from '../../kit/servers/ledger-bench.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';

const server = await postgresForTests();

const NOW = Date.parse('2025-06-18T12:00:00Z');
const DAY_MS = 86_400_000;

/** Of credits, and of what BYOK credentials served. */
const AMOUNT = { creditNanos: 7n, byokNanos: 5n };

if (server !== undefined) {
  describe('ledger verify on PostgreSQL', () => {
    let bench: LedgerBench;
    let gateway: BenchLedger;

    /** One generation is settled and booked, one is open. */
    beforeEach(async () => {
      bench = await LedgerBench.open(server);
      bench.timeMs = NOW;
      gateway = await bench.ledger(bench.directory());
      await gateway.ledger.grant(SCOPES.account, 100n, NOW);
      await spend('g1');
      await gateway.ledger.reserve(generation('open'), () => AMOUNT);
      expect(await found()).toEqual([{ account: SCOPES.account, fault: null, difference: 0n }]);
    });

    afterEach(() => bench.close());

    const spend = async (id: string) => {
      await gateway.ledger.reserve(generation(id), () => AMOUNT);
      await gateway.ledger.settle(id, use(0n, { used: AMOUNT }));
    };

    const change = (statement: RawBuilder<unknown>) => statement.execute(bench.postgres.database);

    const found = async () =>
      (await gateway.ledger.verify()).accounts.map(({ accountId, fault, differenceNanos }) => ({
        account: accountId,
        fault,
        difference: differenceNanos,
      }));

    describe.each(['key', 'workspace', 'account'] as const)('of a tally of the %s', (scope) => {
      const ofScope = sql`scope = ${scope}`;

      it.each(
        LIMIT_WINDOWS.flatMap((window) => [`credit_${window}`, `byok_${window}`]).filter(
          // Other faults: `journals` and `byok`.
          (column) => scope !== 'account' || !column.endsWith('lifetime'),
        ),
      )('names sums when %s is lower than what rows were booked into it', async (column) => {
        await change(
          sql`update ledger_tallies set ${sql.ref(column)} = ${sql.ref(column)} - 3 where ${ofScope}`,
        );
        expect(await found()).toEqual([{ account: SCOPES.account, fault: 'sums', difference: -3n }]);
      });

      it('names sums when a record empties the windows of now, as one of an older version could', async () => {
        const emptied = RESET_WINDOWS.map((window) => sql`${sql.ref(`credit_${window}`)} = 0`);
        await change(sql`update ledger_tallies set ${sql.join(emptied)} where ${ofScope}`);
        expect(await found()).toMatchObject([{ fault: 'sums', difference: -7n }]);
        bench.timeMs += 40 * DAY_MS;
        await spend('next');
        expect(await found()).toMatchObject([{ fault: null }]);
      });

      it.each(['reserved_credit', 'reserved_byok'])(
        'names reservations when %s is not theirs',
        async (column) => {
          await change(
            sql`update ledger_tallies set ${sql.ref(column)} = ${sql.ref(column)} + 2 where ${ofScope}`,
          );
          expect(await found()).toEqual([
            { account: SCOPES.account, fault: 'reservations', difference: -2n },
          ]);
          await change(
            sql`update ledger_tallies set ${sql.ref(column)} = ${sql.ref(column)} - 6 where ${ofScope}`,
          );
          expect(await found()).toMatchObject([{ fault: 'reservations', difference: 4n }]);
        },
      );
    });

    it('names reservations of a key that does not exist any more by its hash', async () => {
      await change(sql`insert into ledger_tallies (scope, id, reserved_credit) values ('key', 'gone', 4)`);
      expect(await found()).toEqual([
        { account: SCOPES.account, fault: null, difference: 0n },
        { account: 'gone', fault: 'reservations', difference: -4n },
      ]);
    });

    it('names byok when its sum is not what journals have booked', async () => {
      await change(sql`update ledger_tallies set byok_lifetime = byok_lifetime + 5 where scope = 'account'`);
      expect(await found()).toMatchObject([{ fault: 'byok', difference: -5n }]);
      expect(await gateway.ledger.statementOf(SCOPES.account)).toMatchObject({ fault: 'byok' });
    });

    it('names the tally when that of an account is gone, also where only a grant is known of it', async () => {
      await change(sql`delete from ledger_tallies where scope = 'account'`);
      expect(await found()).toEqual([{ account: SCOPES.account, fault: 'tally', difference: 7n }]);
      expect(await gateway.ledger.statementOf(SCOPES.account)).toMatchObject({ fault: 'tally' });
      await change(sql`insert into ledger_grants (account_id, number, granted_nanos, granted_at_ms)
        values ('granted', 1, 0, 1), ('never enforced', 1, null, 1)`);
      expect(await found()).toContainEqual({ account: 'granted', fault: 'tally', difference: 0n });
      expect(await found()).toHaveLength(2);
    });

    it.each([true, false])(
      'names nothing of what was forgotten, with an open generation: %s',
      async (isOpen) => {
        if (!isOpen) await gateway.ledger.void('open', NOW);
        await found();
        for (const scope of ['key', 'workspace'] as const) await gateway.ledger.forget(scope, SCOPES[scope]);
        expect(await found()).toMatchObject([{ fault: null }]);
        if (isOpen) await gateway.ledger.settle('open', use(0n, { used: AMOUNT }));
        await spend('g2');
        expect(await found()).toMatchObject([{ fault: null }]);
        await change(sql`update ledger_tallies set credit_daily = 0 where scope = 'key'`);
        expect(await found()).toMatchObject([{ fault: 'sums', difference: isOpen ? -14n : -7n }]);
      },
    );

    it('names nothing of rows that retention pruned or that do not say when they were booked', async () => {
      await change(sql`update generations set booked_at_ms = null`);
      await spend('g2');
      expect(await found()).toMatchObject([{ fault: null }]);
      await bench.rows.prune(Number.MAX_SAFE_INTEGER, 1_000);
      expect(await found()).toMatchObject([{ fault: null }]);
    });

    it('names nothing while gateways reserve, settle, forget and grant at once', async () => {
      const other = await bench.ledger(bench.directory());
      const work = async ({ ledger }: BenchLedger, name: string) => {
        for (let index = 0; index < 25; index++) {
          const id = `${name}${index}`;
          const { ok } = await ledger.reserve(generation(id), () => AMOUNT);
          if (!ok) throw new Error('nothing is limited here');
          await ledger.topUp(id, () => AMOUNT, NOW);
          // Beyond the reservation, which is raised for it.
          await ledger.settle(id, use(0n, { used: { creditNanos: 17n, byokNanos: 3n } }));
        }
      };
      const forget = async () => {
        for (let index = 0; index < 25; index++) {
          await other.ledger.forget(
            index % 2 === 0 ? 'key' : 'workspace',
            index % 2 === 0 ? 'key-1' : 'workspace-1',
          );
          await gateway.ledger.grant(SCOPES.account, 1_000_000n, NOW);
        }
      };
      await gateway.ledger.grant(SCOPES.account, 1_000_000n, NOW);
      const working = [work(gateway, 'a'), work(gateway, 'b'), work(other, 'c'), work(other, 'd'), forget()];
      let isDone = false;
      const done = Promise.all(working).finally(() => {
        isDone = true;
      });
      do expect(await found()).toMatchObject([{ fault: null }]);
      while (!isDone);
      await done;
      expect(await found()).toMatchObject([{ fault: null }]);
      // Settlements are booked in the background.
      await vi.waitFor(async () => expect(await bench.rows.count()).toBe(101), { timeout: 20_000 });
    });

    it('names nothing when the clock of the database is set back over the end of a window', async () => {
      const limits = { ...NO_LIMITS, key: [{ window: 'daily', nanos: 100n, countsByok: false }] as const };
      for (const [index, days] of [1, -1, 0, 8, -20, 35, 0].entries()) {
        bench.timeMs = NOW + days * DAY_MS;
        await gateway.ledger.reserve(generation(`h${index}`, limits), () => AMOUNT);
        await gateway.ledger.settle(`h${index}`, use(0n, { used: AMOUNT, atMs: bench.timeMs }));
        expect(await found()).toMatchObject([{ fault: null }]);
      }
    });
  });
}
