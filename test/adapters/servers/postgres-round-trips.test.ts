import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { LedgerUnavailable } from '../../../src/ports/money/ledger.ts';
import { openPostgresLedger } from '../../../src/store/ledger/postgres/open-postgres-ledger.ts';
import { openPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import { credit, generation, keyLimit, LedgerBench, use } from '../../kit/servers/ledger-bench.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';
import { proxied } from '../../kit/servers/proxied-database.ts';
import { temporaryDirectory } from '../contracts/temporary-directory.ts';

const server = await postgresForTests();

if (server !== undefined) {
  describe('statements to PostgreSQL', () => {
    let bench: LedgerBench;

    beforeEach(async () => {
      bench = await LedgerBench.open(server);
    });

    afterEach(() => bench.close());

    it('are one to reserve, one to book a batch, and one to refuse', async () => {
      const one = await bench.ledger(bench.directory());
      const limits = keyLimit(100n);
      const counted = async (work: () => Promise<unknown>) => {
        const before = one.statements();
        await work();
        return one.statements() - before;
      };
      const reserve = (id: string, nanos: bigint) => () =>
        one.ledger.reserve(generation(id, limits), () => credit(nanos));
      expect(await counted(reserve('g1', 10n))).toBe(1);
      expect(await counted(reserve('g2', 20n))).toBe(1);
      const ends = ['g1', 'g2'].map((id) => one.ledger.settle(id, use(10n)));
      expect(
        await counted(() => Promise.all([...ends, one.ledger.grant('account-1', null, 1)])),
      ).toBeLessThan(7);
      expect(await counted(reserve('g3', 90n))).toBe(1);
      // What booking would give back does not suffice, so nothing is booked for it.
      expect(await one.ledger.reserve(generation('g4', limits), () => credit(80n))).toMatchObject({
        ok: true,
      });
    });

    it('look tallies up in their index, in the functions that read them', async () => {
      const { rows } = await sql<{ proname: string }>`
        select proname from pg_proc
        where proconfig @> array['enable_hashjoin=off', 'enable_mergejoin=off']
        order by proname`.execute(bench.postgres.database);
      expect(rows.map(({ proname }) => proname)).toEqual([
        'ledger_change',
        'ledger_lock',
        'ledger_remainders',
        'ledger_tallies_of',
      ]);
    });

    it('reserve what the headroom of the moment allows, although the gateway remembers another one', async () => {
      const [one, other] = [await bench.ledger(bench.directory()), await bench.ledger(bench.directory())];
      const half = ({ affordable }: { affordable: { creditNanos: bigint | null } }) =>
        credit((affordable.creditNanos ?? 0n) / 2n);
      const reserve = ({ ledger }: typeof one, id: string) =>
        ledger.reserve(generation(id, keyLimit(100n)), half);
      expect(await reserve(one, 'g1')).toMatchObject({ reserved: credit(50n) });
      expect(await reserve(other, 'g2')).toMatchObject({ reserved: credit(25n) });
      expect(await reserve(one, 'g3')).toMatchObject({ reserved: credit(12n) });
      const { accounts, openReservations } = await one.ledger.verify();
      expect([openReservations, accounts[0]?.reservedNanos, accounts[0]?.fault]).toEqual([3, 87n, null]);
    });

    it('leave no reservation behind when a size throws, so that the generation can be reserved again', async () => {
      const [one, other] = [await bench.ledger(bench.directory()), await bench.ledger(bench.directory())];
      const limits = keyLimit(100n);
      await one.ledger.reserve(generation('g1', limits), () => credit(10n));
      await other.ledger.reserve(generation('g2', limits), () => credit(50n));
      const sized = one.ledger.reserve(generation('g3', limits), ({ affordable }) => {
        if ((affordable.creditNanos ?? 0n) < 80n) throw new Error('sized for another headroom');
        return credit(10n);
      });
      await expect(sized).rejects.toThrow('sized for another headroom');
      expect(await one.ledger.reserve(generation('g3', limits), () => credit(20n))).toMatchObject({
        ok: true,
        reserved: credit(20n),
      });
      const { accounts, openReservations } = await one.ledger.verify();
      expect([openReservations, accounts[0]?.reservedNanos, accounts[0]?.fault]).toEqual([3, 80n, null]);
    });

    it('leave no reservation behind when the remembered headroom was too large', async () => {
      const [one, other] = [await bench.ledger(bench.directory()), await bench.ledger(bench.directory())];
      const limits = keyLimit(100n);
      await one.ledger.reserve(generation('g1', limits), () => credit(10n));
      await other.ledger.reserve(generation('g2', limits), () => credit(50n));
      const outcome = await one.ledger.reserve(generation('g3', limits), ({ affordable }) =>
        (affordable.creditNanos ?? 0n) >= 80n ? credit(10n) : null,
      );
      expect(outcome).toMatchObject({ ok: false, refusal: { scope: 'key', leftNanos: 40n } });
      expect(await one.ledger.verify()).toMatchObject({
        openReservations: 2,
        accounts: [{ reservedNanos: 60n, differenceNanos: 0n }],
      });
    });
  });

  describe('PostgreSQL whose answers take 200 ms', () => {
    const closers: (() => Promise<void> | void)[] = [];

    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

    it('lets three gateways on one account reserve soon, and refuses a used-up key soon', async () => {
      const { url, proxy } = await proxied(await server.createDatabase());
      closers.push(() => proxy.close());
      const open = async () => {
        const directory = temporaryDirectory();
        closers.push(() => directory.remove());
        const postgres = await openPostgres(addressOf(url), { nowMs: 1 });
        closers.push(() => postgres.close());
        const opened = await openPostgresLedger({
          directory: directory.path,
          postgres,
          gatewayId: directory.path,
          generationMs: () => 60_000,
          durability: () => 'process',
          clock: systemClock,
          warn() {},
        });
        closers.push(() => opened.close());
        return { ledger: opened.ledger, database: postgres.database };
      };
      const gateways = [await open(), await open(), await open()];
      const ledgers = gateways.map(({ ledger }) => ledger);
      const limits = keyLimit(1_000_000n);
      const empty = {
        ...generation('none', keyLimit(0n)),
        scopes: { ...generation('').scopes, key: 'key-0' },
      };
      await ledgers[0]?.grant('account-1', 10n ** 12n, 1);
      proxy.delayMs = 200;
      const times = { roundTrip: [] as number[], reserve: [] as number[], refuse: [] as number[] };
      const timed = async (kind: keyof typeof times, work: () => Promise<unknown>) => {
        const begunAt = performance.now();
        await work();
        times[kind].push(performance.now() - begunAt);
      };
      let refused = 0;
      const serve = async (gateway: number, index: number) => {
        const id = `g-${gateway}-${index}`;
        const ledger = ledgers[gateway]!;
        try {
          await timed('reserve', () => ledger.reserve(generation(id, limits), () => credit(90n)));
          await ledger.settle(id, use(7n));
        } catch (error) {
          if (!(error instanceof LedgerUnavailable)) throw error;
          refused += 1;
        }
      };
      const running: Promise<void>[] = [];
      for (let index = 0; index < 12; index++) {
        running.push(timed('roundTrip', () => sql`select 1`.execute(gateways[0]!.database)));
        for (const gateway of [0, 1, 2]) running.push(serve(gateway, index));
        running.push(
          timed('refuse', async () => {
            const outcome = await ledgers[0]!.reserve({ ...empty, generationId: `no-${index}` }, () =>
              credit(90n),
            );
            expect(outcome.ok).toBe(false);
          }),
        );
        await delay(200);
      }
      await Promise.all(running);
      expect(refused).toBe(0);
      // A busy machine makes round trips longer, not more.
      expect(middle(times.reserve)).toBeLessThan(5 * middle(times.roundTrip));
      expect(middle(times.refuse)).toBeLessThan(5 * middle(times.roundTrip));
      proxy.delayMs = 0;
      const statement = await ledgers[0]!.statementOf('account-1');
      expect(statement.differenceNanos).toBe(0n);
    });
  });
}

function middle(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
