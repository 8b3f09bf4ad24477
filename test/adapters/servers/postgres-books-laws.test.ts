import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Amount } from '../../../src/ir/amount.ts';
import { LIMIT_WINDOWS } from '../../../src/kit/time/windows.ts';
import type { Scope } from '../../../src/ports/money/ledger.ts';
import { runs } from '../../kit/builders/runs.ts';
import {
  type BenchLedger,
  credit,
  generation,
  keyLimit,
  LedgerBench,
  NO_LIMITS,
  SCOPES,
  use,
} from '../../kit/servers/ledger-bench.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';

const server = await postgresForTests();

const NOW = Date.parse('2025-06-15T12:00:00Z');
const DAY_MS = 86_400_000;

/** The same histories each time: a few seconds of them are enough to find what was ever wrong here. */
const SEED = 20;

const nanos = fc.bigInt(1n, 60n);

/** Payers with a second reservation get a slice: with those of two, all money of a limit may be in slices. */
const SLICES = {
  without: {},
  with: { slices: () => ({ maxNanos: 80n, maxShare: 0.8, hotReservations: 1 }) },
};

if (server !== undefined) {
  /** Runs a property on an empty database each time. */
  const onBench = async (law: (bench: LedgerBench) => Promise<void>) => {
    const bench = await LedgerBench.open(server);
    try {
      await law(bench);
    } finally {
      await bench.close();
    }
  };

  it('settled is the sum of distinct charges, in any order of settling, booking, pruning and restarting', async () => {
    type Step = 'book' | 'prune' | 'restart' | 'crash' | { settle: bigint } | { leave: bigint };
    const step: fc.Arbitrary<Step> = fc.oneof(
      { weight: 3, arbitrary: fc.record({ settle: nanos }) },
      { weight: 1, arbitrary: fc.record({ leave: nanos }) },
      { weight: 4, arbitrary: fc.constantFrom<Step>('book', 'prune', 'restart', 'crash') },
    );
    const law = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), (history) =>
      onBench(async (bench) => {
        const directory = bench.directory();
        let gateway = await bench.ledger(directory);
        let charged = 0n;
        const again = async (end: () => Promise<void>) => {
          await end();
          gateway = await bench.ledger(directory);
        };
        for (const [index, each] of history.entries()) {
          const { ledger } = gateway;
          const id = `g${index}`;
          if (each === 'book') await ledger.statementOf('account-1');
          else if (each === 'prune') await bench.rows.prune(Number.MAX_SAFE_INTEGER, 1_000);
          else if (each === 'restart') await again(gateway.close);
          else if (each === 'crash') await again(gateway.crash);
          else {
            const used = 'settle' in each ? each.settle : each.leave;
            await ledger.reserve(generation(id), () => credit(60n));
            if ('settle' in each) await ledger.settle(id, use(used));
            else await ledger.checkpoint(id, use(used));
            charged += used;
          }
          await expectRight(gateway);
        }
        await again(gateway.close);
        expect(await gateway.ledger.statementOf('account-1')).toMatchObject({
          settledNanos: charged,
          reservedNanos: 0n,
          differenceNanos: 0n,
        });
      }),
    );
    await fc.assert(law, { numRuns: runs(6, 45), seed: SEED });
  });

  it('booking never lowers the sum that a limit counts, whatever the clocks of gateways', async () => {
    const settlement = fc.record({
      used: nanos,
      days: fc.integer({ min: -400, max: 400 }),
      passes: fc.nat(2),
    });
    const law = fc.asyncProperty(fc.array(settlement, { minLength: 2, maxLength: 8 }), (history) =>
      onBench(async (bench) => {
        bench.timeMs = NOW;
        const { ledger } = await bench.ledger(bench.directory());
        const counted = async () => {
          const scopes = Object.entries(SCOPES) as [Scope, string][];
          const spendings = await Promise.all(scopes.map(([scope, id]) => ledger.spendingOf(scope, [id])));
          return spendings
            .flat()
            .flatMap((spending) => LIMIT_WINDOWS.map((window) => spending.credit[window]));
        };
        for (const [index, { used, days, passes }] of history.entries()) {
          const atMs = NOW + days * DAY_MS;
          await ledger.reserve({ ...generation(`g${index}`), atMs }, () => credit(used));
          bench.timeMs += passes * DAY_MS;
          const before = await counted();
          await ledger.settle(`g${index}`, use(used, { atMs }));
          expect(await counted()).toEqual(before.map((sum) => sum + used));
          await expectRight({ ledger });
        }
      }),
    );
    await fc.assert(law, { numRuns: runs(5, 36), seed: SEED });
  });

  for (const mode of ['without', 'with'] as const)
    it(`two gateways ${mode} slices that expire, sweep, crash, are cut off and come back pass no limit`, async () => {
      type Step =
        | { readonly kind: 'pass'; readonly ms: number }
        | { readonly kind: 'reserve'; readonly of: 0 | 1; readonly nanos: bigint }
        | { readonly kind: 'settle'; readonly of: 0 | 1; readonly which: number; readonly nanos: bigint }
        | {
            readonly kind: 'sweep' | 'expire' | 'book' | 'crash' | 'return' | 'cut' | 'heal' | 'beat';
            readonly of: 0 | 1;
          };
      const of = fc.constantFrom<0 | 1>(0, 1);
      const nanos = fc.bigInt(20n, 60n);
      const step: fc.Arbitrary<Step> = fc.oneof(
        { weight: 5, arbitrary: fc.record({ kind: fc.constant('reserve' as const), of, nanos }) },
        {
          weight: 5,
          arbitrary: fc.record({ kind: fc.constant('settle' as const), of, which: fc.nat(5), nanos }),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            kind: fc.constant('pass' as const),
            ms: fc.constantFrom(5_000, 30_000, 100_000),
          }),
        },
        {
          weight: 6,
          arbitrary: fc.record({
            kind: fc.constantFrom(
              'sweep',
              'expire',
              'expire',
              'book',
              'crash',
              'return',
              'cut',
              'heal',
              'beat',
            ),
            of,
          }),
        },
      );
      const LIMIT = 100n;
      const BALANCE = 110n;
      const law = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 22 }), (history) =>
        onBench(async (bench) => {
          bench.timeMs = NOW;
          const directories = [bench.directory(), bench.directory()] as const;
          const open = (which: 0 | 1) => bench.ledger(directories[which], { graceMs: 0, ...SLICES[mode] });
          const gateways: (BenchLedger | undefined)[] = [await open(0), await open(1)];
          const judge = await bench.ledger(bench.directory());
          const running: [string[], string[]] = [[], []];
          await gateways[0]?.ledger.grant('account-1', BALANCE, NOW);
          let accepted = 0;
          const take = async (each: Exclude<Step, { kind: 'pass' }>) => {
            const gateway = gateways[each.of];
            if (each.kind === 'return') {
              gateways[each.of] ??= await open(each.of);
              return;
            }
            if (gateway === undefined) return;
            const { ledger } = gateway;
            const ids = running[each.of];
            const isCut = each.kind === 'cut';
            if (isCut || each.kind === 'heal') gateway.setAway(isCut);
            if (each.kind === 'beat') await ledger.beat().catch(() => {});
            if (each.kind === 'expire') bench.timeMs += 100_000;
            if (each.kind === 'sweep' || each.kind === 'expire') await ledger.sweep().catch(() => {});
            else if (each.kind === 'book') await ledger.statementOf('account-1').catch(() => {});
            else if (each.kind === 'crash') {
              await gateway.crash();
              gateways[each.of] = undefined;
              ids.length = 0;
            } else if (each.kind === 'reserve') {
              const id = `g${accepted}`;
              // Every other one is limited by the balance alone.
              const limits = accepted % 2 === 0 ? keyLimit(LIMIT) : NO_LIMITS;
              const { ok } = await ledger
                .reserve(generation(id, limits), () => credit(each.nanos))
                .catch(() => ({ ok: false }));
              if (!ok) return;
              accepted += 1;
              ids.push(id);
              await ledger.checkpoint(id, use(each.nanos));
            } else if (each.kind === 'settle') {
              const [id] = ids.splice(each.which % Math.max(1, ids.length), 1);
              if (id !== undefined) await ledger.settle(id, use(each.nanos));
            }
          };
          for (const each of history) {
            if (each.kind === 'pass') bench.timeMs += each.ms;
            else await take(each);
            await expectRight(judge);
          }
          for (const which of [0, 1] as const) {
            await gateways[which]?.crash();
            gateways[which] = await open(which);
          }
          for (const gateway of gateways) {
            expect((await gateway?.ledger.statementOf('account-1'))?.leftNanos).toBeGreaterThanOrEqual(0n);
            // What is booked leaves slices of the run before behind.
            await gateway?.ledger.sweep();
          }
          const { accounts, openReservations } = (await gateways[0]?.ledger.verify()) ?? {};
          expect(accounts).toMatchObject([{ reservedNanos: 0n, differenceNanos: 0n }]);
          expect(accounts?.[0]?.settledNanos).toBeLessThanOrEqual(BALANCE);
          expect(openReservations).toBe(0);
          expect(await bench.rows.count()).toBe(accepted);
          expect(await limitedSum(bench)).toBeLessThanOrEqual(LIMIT);
        }),
      );
      await fc.assert(law, { numRuns: runs(10, 75), seed: SEED });
    });

  it('verify finds no fault in right books, whatever happens to clocks, keys, rows and gateways', async () => {
    type Step =
      | { readonly kind: 'reserve' | 'settle' | 'top-up'; readonly of: 0 | 1; readonly amount: Amount }
      | { readonly kind: 'void' | 'crash' | 'sweep' | 'restart'; readonly of: 0 | 1 }
      | { readonly kind: 'clock'; readonly days: number }
      | { readonly kind: 'grant'; readonly nanos: bigint | null }
      | { readonly kind: 'prune' }
      | { readonly kind: 'forget'; readonly of: 'key' | 'workspace' };
    const of = fc.constantFrom<0 | 1>(0, 1);
    const amount = fc.record({ creditNanos: fc.bigInt(0n, 60n), byokNanos: fc.bigInt(0n, 9n) });
    const step: fc.Arbitrary<Step> = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('reserve', 'settle'), of, amount }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('top-up' as const), of, amount }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('void', 'crash', 'sweep', 'restart'), of }) },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('clock' as const),
          days: fc.integer({ min: -40, max: 40 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('grant' as const),
          nanos: fc.option(fc.bigInt(0n, 500n)),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune' as const) }) },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('forget' as const),
          of: fc.constantFrom('key' as const, 'workspace' as const),
        }),
      },
    );
    const law = fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 25 }), (history) =>
      onBench(async (bench) => {
        bench.timeMs = NOW;
        const directories = [bench.directory(), bench.directory()] as const;
        const open = (which: 0 | 1) => bench.ledger(directories[which], { graceMs: 0 });
        const gateways: [BenchLedger, BenchLedger] = [await open(0), await open(1)];
        const running: [string[], string[]] = [[], []];
        let accepted = 0;
        const take = async (each: Extract<Step, { of: 0 | 1 }>) => {
          const { ledger, close, crash } = gateways[each.of];
          const ids = running[each.of];
          const atMs = bench.timeMs;
          if (each.kind === 'reserve') {
            const id = `g${accepted++}`;
            const asked = { ...generation(id, keyLimit(300n)), atMs };
            if ((await ledger.reserve(asked, () => each.amount)).ok) ids.push(id);
          } else if (each.kind === 'sweep') await ledger.sweep();
          else if (each.kind === 'crash' || each.kind === 'restart') {
            await (each.kind === 'crash' ? crash() : close());
            gateways[each.of] = await open(each.of);
            ids.length = 0;
          } else if (each.kind === 'top-up') await ledger.topUp(ids[0] ?? '', () => each.amount, atMs);
          else {
            const id = ids.shift();
            if (id === undefined) return;
            if ('amount' in each) await ledger.settle(id, use(0n, { used: each.amount, atMs }));
            else await ledger.void(id, atMs);
          }
        };
        for (const each of history) {
          if (each.kind === 'clock') bench.timeMs = NOW + each.days * DAY_MS;
          else if (each.kind === 'grant') await gateways[0].ledger.grant('account-1', each.nanos, NOW);
          else if (each.kind === 'prune') await bench.rows.prune(Number.MAX_SAFE_INTEGER, 1);
          else if (each.kind === 'forget') {
            // A key whose secret is in the environment is made again with the same hash.
            await gateways[1].ledger.forget(each.of, SCOPES[each.of]);
          } else await take(each);
          await expectRight(gateways[0]);
        }
      }),
    );
    await fc.assert(law, { numRuns: runs(5, 36), seed: SEED, endOnFailure: true });
  });
}

/** That `verify` names no fault, whether or not the last settlements are booked. */
async function expectRight(gateway: Pick<BenchLedger, 'ledger'> | undefined): Promise<void> {
  const accounts = (await gateway?.ledger.verify())?.accounts ?? [];
  expect(accounts.filter(({ fault, differenceNanos }) => fault !== null || differenceNanos !== 0n)).toEqual(
    [],
  );
}

/** What generations with a limit were charged: those with even numbers. */
async function limitedSum(bench: LedgerBench): Promise<bigint> {
  const rows = await bench.rows.settledAfter({ settledAtMs: 0, id: '' }, 1_000);
  return rows
    .filter(({ id }) => Number(id.slice(1)) % 2 === 0)
    .reduce((sum, { charge }) => sum + charge.creditNanos, 0n);
}
