import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Amount } from '../../../src/ir/amount.ts';
import type { GenerationStore } from '../../../src/ports/generations/generations.ts';
import type {
  Headroom,
  Ledger,
  Limit,
  Limits,
  NewGeneration,
  ScopeIds,
  Use,
} from '../../../src/ports/money/ledger.ts';
import { WRITE_OFF_CAUSES } from '../../../src/ports/money/write-offs.ts';

/** An adapter under test, where the rows of its generations go, and how to close it. */
export interface LedgerUnderTest {
  readonly ledger: Ledger;
  readonly generations: GenerationStore;
  /** Sets the clock of windows; does nothing if the ledger gets the time with each call. */
  setTime(ms: number): void;
  /** Its warnings. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

/** A Sunday noon: the time that an adapter is opened at. */
export const NOW = Date.parse('2025-06-15T12:00:00Z');
const DAY_MS = 86_400_000;

const SCOPES: ScopeIds = { key: 'key-1', workspace: 'workspace-1', account: 'account-1' };
const SIBLING: ScopeIds = { ...SCOPES, key: 'key-2' };
const STRANGER: ScopeIds = { key: 'key-9', workspace: 'workspace-9', account: 'account-9' };

const NO_LIMITS: Limits = { key: [], workspace: [] };

const credit = (creditNanos: bigint): Amount => ({ creditNanos, byokNanos: 0n });
const byok = (byokNanos: bigint): Amount => ({ creditNanos: 0n, byokNanos });

const limit = (nanos: bigint, more: Partial<Limit> = {}): Limit => ({
  window: 'lifetime',
  nanos,
  countsByok: false,
  ...more,
});

const keyLimit = (nanos: bigint, more: Partial<Limit> = {}): Limits => ({
  key: [limit(nanos, more)],
  workspace: [],
});

const workspaceLimit = (nanos: bigint, more: Partial<Limit> = {}): Limits => ({
  key: [],
  workspace: [limit(nanos, more)],
});

const generation = (generationId: string, more: Partial<NewGeneration> = {}): NewGeneration => ({
  generationId,
  scopes: SCOPES,
  limits: NO_LIMITS,
  atMs: NOW,
  row: { id: generationId, model: 'acme/one' },
  ...more,
});

const use = (used: Amount, more: Partial<Use> = {}): Use => ({
  used,
  row: { finish_reason: 'stop' },
  atMs: NOW,
  ...more,
});

/** What every Ledger must do. `open` gives an empty one each time, with an empty store of rows. */
export function ledgerContract(name: string, open: () => Promise<LedgerUnderTest>): void {
  describe(`Ledger: ${name}`, () => {
    let under: LedgerUnderTest;
    let ledger: Ledger;

    beforeEach(async () => {
      under = await open();
      ledger = under.ledger;
    });

    afterEach(async () => {
      await under.close();
      // Nothing here goes wrong but for amounts that are too large.
      expect(under.warnings.filter((message) => !message.includes('exceeds the maximum'))).toEqual([]);
    });

    const reserve = (of: NewGeneration, amount: Amount) => ledger.reserve(of, () => amount);

    /** Reserves and settles a generation that costs as much as was reserved. */
    const spend = async (id: string, amount: Amount, more: Partial<NewGeneration> = {}) => {
      const accepted = generation(id, more);
      expect(await reserve(accepted, amount)).toMatchObject({ ok: true });
      return ledger.settle(id, use(amount, { atMs: accepted.atMs }));
    };

    /** Until then settled money may still count as reserved, so tests wait for it before they read figures. */
    const booked = () => ledger.statementOf('account-1');

    const headroomOf = async (of: Partial<NewGeneration>): Promise<Headroom | undefined> => {
      let seen: Headroom | undefined;
      const id = `probe-${Math.random()}`;
      const outcome = await ledger.reserve(generation(id, of), (headroom) => {
        seen = headroom;
        return credit(0n);
      });
      if (outcome.ok) await ledger.void(id, NOW);
      return seen;
    };

    const equationHolds = async () => {
      for (const { differenceNanos } of (await ledger.verify()).accounts) expect(differenceNanos).toBe(0n);
    };

    describe('limits of members', () => {
      const MEMBER: ScopeIds = { ...SCOPES, member: 'account-1:ada' };
      const OTHER_KEY: ScopeIds = { ...MEMBER, key: 'key-2' };
      const limits: Limits = {
        key: [],
        member: [limit(100n, { window: 'daily', guardrailId: 'g' })],
        workspace: [],
      };

      it('count what all keys of the member spend and reserve', async () => {
        const { ledger } = under;
        const take = (nanos: bigint) => () => credit(nanos);
        expect(await ledger.reserve(generation('m1', { scopes: MEMBER, limits }), take(60n))).toMatchObject({
          ok: true,
        });
        const refusal = {
          scope: 'member',
          window: 'daily',
          limitNanos: 100n,
          leftNanos: 40n,
          guardrailId: 'g',
        };
        expect(await ledger.reserve(generation('m2', { scopes: OTHER_KEY, limits }), take(60n))).toEqual({
          ok: false,
          refusal,
        });
        await ledger.settle('m1', { used: credit(90n), row: { id: 'm1' }, atMs: NOW });
        expect(
          await ledger.reserve(generation('m3', { scopes: OTHER_KEY, limits }), take(11n)),
        ).toMatchObject({
          ok: false,
          refusal: { leftNanos: 10n },
        });
        expect(
          await ledger.reserve(generation('m4', { scopes: OTHER_KEY, limits }), take(10n)),
        ).toMatchObject({
          ok: true,
        });
        await ledger.void('m4', NOW);
        const [spending] = await ledger.spendingOf('member', ['account-1:ada'], NOW);
        expect(spending?.credit).toMatchObject({ daily: 90n, lifetime: 90n });
        for (const { fault } of (await ledger.verify()).accounts) expect(fault).toBeNull();
      });

      it('charge no more than the limit leaves, and top up within it', async () => {
        const { ledger } = under;
        await ledger.reserve(generation('m5', { scopes: MEMBER, limits }), () => credit(10n));
        expect(await ledger.topUp('m5', () => credit(95n), NOW)).toMatchObject({
          ok: false,
          refusal: { scope: 'member', guardrailId: 'g' },
        });
        expect(await ledger.topUp('m5', () => credit(20n), NOW)).toMatchObject({ ok: true });
        const settled = await ledger.settle('m5', { used: credit(500n), row: { id: 'm5' }, atMs: NOW });
        expect(settled).toEqual({ charge: credit(100n), writtenOffNanos: 400n });
      });

      it('count nothing for generations without one', async () => {
        const { ledger } = under;
        await ledger.reserve(generation('m6'), () => credit(10n));
        await ledger.settle('m6', { used: credit(10n), row: { id: 'm6' }, atMs: NOW });
        const [spending] = await ledger.spendingOf('member', ['account-1:ada'], NOW);
        expect(spending?.credit.lifetime).toBe(0n);
      });
    });

    it('begins empty, available, and with nothing enforced', async () => {
      expect(ledger.isAvailable).toBe(true);
      expect(ledger.openReservations).toBe(0);
      expect(await ledger.statementOf('account-1')).toEqual({
        accountId: 'account-1',
        grantedNanos: null,
        settledNanos: 0n,
        reservedNanos: 0n,
        leftNanos: null,
        writtenOffNanos: 0n,
        differenceNanos: 0n,
        fault: null,
      });
      expect(await ledger.verify()).toMatchObject({ accounts: [], openReservations: 0, generations: 0 });
      expect(await headroomOf({})).toEqual({
        affordable: { creditNanos: null, totalNanos: null },
        unspent: { creditNanos: null, totalNanos: null },
      });
    });

    describe('a generation', () => {
      it('is reserved for, settled, charged to its three scopes and shown as a row', async () => {
        expect(await reserve(generation('g1'), { creditNanos: 9n, byokNanos: 4n })).toEqual({
          ok: true,
          reserved: { creditNanos: 9n, byokNanos: 4n },
        });
        expect(ledger.openReservations).toBe(1);
        const used = { creditNanos: 7n, byokNanos: 2n };
        const row = { id: 'g1', finish_reason: 'stop', tokens_prompt: 3 };
        expect(await ledger.settle('g1', use(used, { row, atMs: NOW + 5 }))).toEqual({
          charge: used,
          writtenOffNanos: 0n,
        });
        expect(ledger.openReservations).toBe(0);
        for (const scope of ['key', 'workspace', 'account'] as const) {
          expect(await ledger.spendingOf(scope, [SCOPES[scope]], NOW)).toMatchObject([
            { credit: { lifetime: 7n, daily: 7n }, byok: { lifetime: 2n, monthly: 2n } },
          ]);
        }
        await expect
          .poll(() => under.generations.find('account-1', 'g1'))
          .toEqual({
            id: 'g1',
            scopes: SCOPES,
            settledAtMs: NOW + 5,
            charge: used,
            writtenOffNanos: 0n,
            writtenOffCause: null,
            row,
          });
        expect(await under.generations.find('account-9', 'g1')).toBeUndefined();
        await equationHolds();
      });

      it('is settled once; a second settlement returns the first charge', async () => {
        await reserve(generation('g1'), credit(9n));
        const settled = await Promise.all(
          [5n, 8n, 2n].map((nanos) => ledger.settle('g1', use(credit(nanos)))),
        );
        expect(new Set(settled.map(({ charge }) => charge.creditNanos))).toEqual(
          new Set([settled[0]?.charge.creditNanos]),
        );
        expect(await ledger.settle('g1', use(credit(1n)))).toEqual(settled[0]);
        expect((await ledger.statementOf('account-1')).settledNanos).toBe(settled[0]?.charge.creditNanos);
        await expect.poll(() => under.generations.count()).toBe(1);
      });

      it('costs nothing if it used nothing, and still has its row', async () => {
        await reserve(generation('g1'), credit(9n));
        expect(await ledger.settle('g1', use(credit(0n)))).toEqual({
          charge: credit(0n),
          writtenOffNanos: 0n,
        });
        expect(await ledger.statementOf('account-1')).toMatchObject({ settledNanos: 0n, reservedNanos: 0n });
        await expect.poll(() => under.generations.count()).toBe(1);
      });

      it('that was never sent is released: nothing charged, no row', async () => {
        await ledger.grant('account-1', 10n, NOW);
        await reserve(generation('g1'), credit(9n));
        await ledger.void('g1', NOW);
        expect(ledger.openReservations).toBe(0);
        expect(await ledger.statementOf('account-1')).toMatchObject({ leftNanos: 10n, reservedNanos: 0n });
        expect(await ledger.settle('g1', use(credit(3n)))).toEqual({
          charge: credit(0n),
          writtenOffNanos: 0n,
        });
        await ledger.void('g1', NOW);
        expect(await ledger.verify()).toMatchObject({ generations: 0 });
        await equationHolds();
      });

      it('cannot be begun twice under one id, nor settled unknown', async () => {
        await reserve(generation('g1'), credit(1n));
        await expect(reserve(generation('g1'), credit(1n))).rejects.toThrow('g1');
        await ledger.settle('g1', use(credit(1n)));
        await expect(reserve(generation('g1'), credit(1n))).rejects.toThrow('g1');
        await expect(ledger.settle('g2', use(credit(1n)))).rejects.toThrow('g2');
        expect((await ledger.statementOf('account-1')).settledNanos).toBe(1n);
      });

      it('may have checkpoints, which cost nothing', async () => {
        await reserve(generation('g1'), credit(9n));
        await ledger.checkpoint('g1', use(credit(4n)));
        await ledger.checkpoint('unknown', use(credit(4n)));
        expect(await ledger.statementOf('account-1')).toMatchObject({ settledNanos: 0n, reservedNanos: 9n });
        expect((await ledger.settle('g1', use(credit(2n)))).charge).toEqual(credit(2n));
        await ledger.checkpoint('g1', use(credit(5n)));
        expect(await ledger.statementOf('account-1')).toMatchObject({ settledNanos: 2n, reservedNanos: 0n });
      });

      it('is listed while it runs, with what it has reserved and used so far', async () => {
        await reserve(generation('g1'), credit(9n));
        await reserve(
          generation('g2', { scopes: { key: 'key-2', workspace: 'workspace-2', account: 'account-2' } }),
          credit(1n),
        );
        expect(await ledger.runningOf('account-1')).toMatchObject([
          { generationId: 'g1', reserved: credit(9n), spent: credit(0n), row: { model: 'acme/one' } },
        ]);
        await ledger.checkpoint('g1', use(credit(4n), { row: { tokens_completion: 7 } }));
        expect(await ledger.runningOf('account-1')).toMatchObject([
          { spent: credit(4n), row: { model: 'acme/one', tokens_completion: 7 } },
        ]);
        await ledger.settle('g1', use(credit(4n)));
        expect(await ledger.runningOf('account-1')).toEqual([]);
        await ledger.void('g2', NOW);
        expect(await ledger.runningOf('account-2')).toEqual([]);
      });

      it('keeps the members of its row as they were given', async () => {
        const row = { text: 'ü "quoted" \u2028 \\', none: null, list: [1, 2.5, { deep: true }], zero: 0 };
        await reserve(generation('g1'), credit(1n));
        await ledger.settle('g1', use(credit(1n), { row }));
        await expect.poll(async () => (await under.generations.find('account-1', 'g1'))?.row).toEqual(row);
      });

      it('is refused a negative amount', async () => {
        await expect(reserve(generation('g1'), credit(-1n))).rejects.toThrow('negative');
        expect(ledger.openReservations).toBe(0);
      });
    });

    describe('a refusal', () => {
      it.each([
        ['key', keyLimit(10n), 'lifetime'],
        ['key', keyLimit(10n, { window: 'daily' }), 'daily'],
        ['workspace', workspaceLimit(10n), 'lifetime'],
        ['workspace', workspaceLimit(10n, { window: 'monthly' }), 'monthly'],
      ] as const)('names the %s and what it has left', async (scope, limits, window) => {
        await spend('g1', credit(3n), { limits });
        await reserve(generation('g2', { limits }), credit(3n));
        expect(await reserve(generation('g3', { limits }), credit(5n))).toEqual({
          ok: false,
          refusal: { scope, window, limitNanos: 10n, leftNanos: 4n },
        });
        expect(await reserve(generation('g3', { limits }), credit(4n))).toMatchObject({ ok: true });
      });

      it('names the account when its balance is too small', async () => {
        await spend('g1', credit(3n));
        await ledger.grant('account-1', 10n, NOW);
        expect(await reserve(generation('g2'), credit(11n))).toEqual({
          ok: false,
          refusal: { scope: 'account', window: 'lifetime', limitNanos: 13n, leftNanos: 10n },
        });
        expect(await reserve(generation('g2', { scopes: STRANGER }), credit(11n))).toMatchObject({
          ok: true,
        });
      });

      it('names the limit that leaves least, the narrowest of equals', async () => {
        const limits: Limits = {
          key: [limit(30n)],
          workspace: [limit(20n, { window: 'daily' }), limit(25n, { window: 'weekly' })],
        };
        expect(await reserve(generation('g1', { limits }), credit(40n))).toMatchObject({
          refusal: { scope: 'workspace', window: 'daily', leftNanos: 20n },
        });
        expect(await ledger.reserve(generation('g1', { limits }), () => null)).toMatchObject({
          ok: false,
          refusal: { scope: 'workspace', window: 'daily', leftNanos: 20n },
        });
        const equal: Limits = { key: [limit(20n)], workspace: [limit(20n)] };
        await ledger.grant('account-1', 20n, NOW);
        expect(await reserve(generation('g1', { limits: equal }), credit(21n))).toMatchObject({
          refusal: { scope: 'key' },
        });
        await ledger.grant('account-1', 5n, NOW);
        expect(await ledger.reserve(generation('g1', { limits: equal }), () => null)).toMatchObject({
          refusal: { scope: 'account', leftNanos: 5n },
        });
      });

      it('leaves no trace', async () => {
        await ledger.grant('account-1', 10n, NOW);
        await reserve(generation('g1', { limits: keyLimit(5n) }), credit(6n));
        await reserve(generation('g2', { limits: workspaceLimit(5n) }), credit(6n));
        await reserve(generation('g3'), credit(11n));
        expect(ledger.openReservations).toBe(0);
        expect(await ledger.statementOf('account-1')).toMatchObject({ leftNanos: 10n, reservedNanos: 0n });
        expect(await headroomOf({ limits: keyLimit(5n) })).toMatchObject({
          affordable: { creditNanos: 5n },
        });
        // The id can be used again.
        expect(await reserve(generation('g1', { limits: keyLimit(5n) }), credit(5n))).toMatchObject({
          ok: true,
        });
      });

      it('says that nothing is left when a limit was lowered below what was spent', async () => {
        await spend('g1', credit(8n), { limits: keyLimit(10n) });
        expect(await reserve(generation('g2', { limits: keyLimit(5n) }), credit(1n))).toMatchObject({
          refusal: { limitNanos: 5n, leftNanos: 0n },
        });
        // What costs nothing breaks no limit.
        expect(await reserve(generation('g2', { limits: keyLimit(5n) }), credit(0n))).toMatchObject({
          ok: true,
        });
      });
    });

    describe('headroom', () => {
      it('is what is neither spent nor reserved, and what is not spent', async () => {
        const limits = keyLimit(100n);
        await spend('g1', credit(20n), { limits });
        await booked();
        await reserve(generation('g2', { limits }), credit(30n));
        expect(await headroomOf({ limits })).toEqual({
          affordable: { creditNanos: 50n, totalNanos: null },
          unspent: { creditNanos: 80n, totalNanos: null },
        });
        await ledger.grant('account-1', 60n, NOW);
        expect(await headroomOf({ limits })).toMatchObject({
          affordable: { creditNanos: 30n },
          unspent: { creditNanos: 60n },
        });
      });

      it('counts what BYOK credentials served where a limit does', async () => {
        const limits = keyLimit(100n, { countsByok: true });
        await spend('g1', { creditNanos: 10n, byokNanos: 20n }, { limits });
        await booked();
        await reserve(generation('g2', { limits }), { creditNanos: 5n, byokNanos: 5n });
        expect(await headroomOf({ limits })).toEqual({
          affordable: { creditNanos: null, totalNanos: 60n },
          unspent: { creditNanos: null, totalNanos: 70n },
        });
        expect(await headroomOf({ limits: keyLimit(100n) })).toMatchObject({
          affordable: { creditNanos: 85n },
        });
      });

      it('lets `size` reserve what is left', async () => {
        await ledger.grant('account-1', 7n, NOW);
        const outcome = await ledger.reserve(generation('g1'), ({ affordable }) =>
          credit(affordable.creditNanos ?? 0n),
        );
        expect(outcome).toEqual({ ok: true, reserved: credit(7n) });
        expect(await headroomOf({})).toMatchObject({
          affordable: { creditNanos: 0n },
          unspent: { creditNanos: 7n },
        });
      });
    });

    describe('a window', () => {
      it.each([
        ['daily', '2025-06-15T23:59:59.999Z', '2025-06-16T00:00:00Z'],
        ['weekly', '2025-06-15T23:59:59.999Z', '2025-06-16T00:00:00Z'],
        ['monthly', '2025-06-30T23:59:59.999Z', '2025-07-01T00:00:00Z'],
      ] as const)('that is %s resets in UTC', async (window, last, first) => {
        const limits = keyLimit(10n, { window });
        const lastMs = Date.parse(last);
        const firstMs = Date.parse(first);
        under.setTime(lastMs);
        await spend('g1', credit(10n), { limits, atMs: lastMs });
        expect(await reserve(generation('g2', { limits, atMs: lastMs }), credit(1n))).toMatchObject({
          ok: false,
        });
        await booked();
        under.setTime(firstMs);
        expect(await reserve(generation('g2', { limits, atMs: firstMs }), credit(10n))).toMatchObject({
          ok: true,
        });
        const [spending] = await ledger.spendingOf('key', ['key-1'], firstMs);
        expect(spending?.credit).toMatchObject({ [window]: 0n, lifetime: 10n });
      });

      it('counts a reservation of the window before until it is settled, and then in the new one', async () => {
        const limits = keyLimit(10n, { window: 'daily' });
        const tomorrow = NOW + DAY_MS;
        await reserve(generation('g1', { limits }), credit(8n));
        under.setTime(tomorrow);
        expect(await reserve(generation('g2', { limits, atMs: tomorrow }), credit(3n))).toMatchObject({
          ok: false,
        });
        await ledger.settle('g1', use(credit(4n), { atMs: tomorrow }));
        const [spending] = await ledger.spendingOf('key', ['key-1'], tomorrow);
        expect(spending?.credit.daily).toBe(4n);
        expect(await reserve(generation('g2', { limits, atMs: tomorrow }), credit(6n))).toMatchObject({
          ok: true,
        });
      });
    });

    describe('a clock that is set back', () => {
      it.each([1, 2, 40])('by %i days gives no window back', async (days) => {
        const limits: Limits = {
          key: [limit(10n, { window: 'daily' })],
          workspace: [limit(10n, { window: 'monthly' })],
        };
        await spend('g1', credit(9n), { limits });
        await booked();
        const before = NOW - days * DAY_MS;
        under.setTime(before);
        expect(await reserve(generation('g2', { limits, atMs: before }), credit(2n))).toMatchObject({
          refusal: { scope: 'key', leftNanos: 1n },
        });
        await spend('g3', credit(1n), { limits, atMs: before });
        await booked();
        under.setTime(NOW);
        expect(await ledger.spendingOf('key', ['key-1'], NOW)).toMatchObject([
          { credit: { daily: 10n, monthly: 10n } },
        ]);
        expect(await ledger.topUp('g2', () => credit(1n), NOW)).toMatchObject({ ok: false });
        expect(await reserve(generation('g4', { limits }), credit(1n))).toMatchObject({ ok: false });
      });

      it('by a second over the start of a window, before settling, counts in the new window', async () => {
        const limits = keyLimit(10n, { window: 'daily' });
        const midnight = Date.parse('2025-06-16T00:00:00Z');
        under.setTime(midnight - 500);
        await spend('g1', credit(10n), { limits, atMs: midnight - 500 });
        await booked();
        under.setTime(midnight + 400);
        expect(await reserve(generation('g2', { limits, atMs: midnight + 400 }), credit(10n))).toMatchObject({
          ok: true,
        });
        under.setTime(midnight - 600);
        await ledger.settle('g2', use(credit(10n), { atMs: midnight - 600 }));
        await booked();
        under.setTime(midnight + 5000);
        expect(await reserve(generation('g3', { limits, atMs: midnight + 5000 }), credit(1n))).toMatchObject({
          ok: false,
        });
      });
    });

    describe('200 concurrent generations', () => {
      it('reserve no more than a key may spend', async () => {
        const limits = keyLimit(10_000_000n);
        const outcomes = await Promise.all(
          Array.from({ length: 200 }, (_, index) =>
            reserve(generation(`g${index}`, { limits }), credit(4_000_000n)),
          ),
        );
        expect(outcomes.filter(({ ok }) => ok)).toHaveLength(2);
        expect(ledger.openReservations).toBe(2);
      });

      it('of three keys reserve, top up and settle within a workspace and a balance', async () => {
        await ledger.grant('account-1', 1_000n, NOW);
        const keys = ['key-1', 'key-2', 'key-3'];
        const runs = Array.from({ length: 200 }, async (_, index) => {
          const id = `g${index}`;
          const scopes = { ...SCOPES, key: keys[index % 3] ?? '' };
          const limits: Limits = { key: [limit(400n)], workspace: [limit(900n)] };
          const outcome = await reserve(generation(id, { scopes, limits }), credit(BigInt(5 + (index % 20))));
          if (!outcome.ok) return;
          await ledger.topUp(id, () => credit(3n), NOW);
          await ledger.settle(id, use(credit(BigInt(index % 60))));
        });
        await Promise.all(runs);
        const keySpending = await ledger.spendingOf('key', keys, NOW);
        const spent = keySpending.map(({ credit: { lifetime } }) => lifetime);
        for (const nanos of spent) expect(nanos).toBeLessThanOrEqual(400n);
        const [workspace] = await ledger.spendingOf('workspace', ['workspace-1'], NOW);
        const total = spent.reduce((sum, nanos) => sum + nanos, 0n);
        expect(total).toBeGreaterThan(0n);
        expect(total).toBeLessThanOrEqual(900n);
        expect(workspace?.credit.lifetime).toBe(total);
        expect(await ledger.statementOf('account-1')).toMatchObject({
          settledNanos: total,
          reservedNanos: 0n,
          leftNanos: 1_000n - total,
        });
        await equationHolds();
      });
    });

    describe('a top-up', () => {
      it('reserves more as long as the limits allow it', async () => {
        const limits = keyLimit(10n);
        await reserve(generation('g1', { limits }), credit(4n));
        expect(await ledger.topUp('g1', () => credit(5n), NOW)).toMatchObject({ ok: true });
        expect(await ledger.topUp('g1', () => credit(2n), NOW)).toMatchObject({ ok: false });
        expect(await ledger.topUp('g1', () => credit(1n), NOW)).toMatchObject({ ok: true });
        expect((await ledger.statementOf('account-1')).reservedNanos).toBe(10n);
        expect((await ledger.settle('g1', use(credit(10n)))).charge).toEqual(credit(10n));
      });

      it('is refused where the workspace or the balance has no more', async () => {
        await reserve(generation('g1', { limits: workspaceLimit(5n) }), credit(4n));
        expect(await ledger.topUp('g1', () => credit(2n), NOW)).toMatchObject({ ok: false });
        await ledger.grant('account-1', 6n, NOW);
        await reserve(generation('g2'), credit(1n));
        expect(await ledger.topUp('g2', () => credit(2n), NOW)).toMatchObject({ ok: false });
        expect(await ledger.topUp('g2', () => credit(1n), NOW)).toMatchObject({ ok: true });
      });

      it('is sized by what there is, and names the limit that leaves too little', async () => {
        await reserve(generation('g1', { limits: keyLimit(10n) }), credit(4n));
        const half = ({ affordable }: Headroom) => credit((affordable.creditNanos ?? 0n) / 2n);
        expect(await ledger.topUp('g1', half, NOW)).toEqual({ ok: true, more: credit(3n) });
        const refusal = { scope: 'key', window: 'lifetime', limitNanos: 10n, leftNanos: 3n };
        expect(await ledger.topUp('g1', () => credit(4n), NOW)).toEqual({ ok: false, refusal });
        expect(await ledger.topUp('g1', () => null, NOW)).toEqual({ ok: false, refusal });
        expect((await ledger.statementOf('account-1')).reservedNanos).toBe(7n);
      });

      it('needs an open generation', async () => {
        const notOpen = { ok: false, refusal: null };
        expect(await ledger.topUp('unknown', () => credit(1n), NOW)).toEqual(notOpen);
        await spend('g1', credit(1n));
        expect(await ledger.topUp('g1', () => credit(1n), NOW)).toEqual(notOpen);
        expect((await ledger.statementOf('account-1')).reservedNanos).toBe(0n);
      });
    });

    describe('use beyond a reservation', () => {
      it('is charged as far as the limits allow, and written off beyond', async () => {
        const limits = keyLimit(10n);
        await reserve(generation('g1', { limits }), credit(3n));
        await reserve(generation('g2', { limits }), credit(4n));
        expect(await ledger.settle('g1', use(credit(20n)))).toEqual({
          charge: credit(6n),
          writtenOffNanos: 14n,
        });
        expect((await ledger.settle('g2', use(credit(4n)))).charge).toEqual(credit(4n));
        await expect
          .poll(async () => (await under.generations.find('account-1', 'g1'))?.writtenOffNanos)
          .toBe(14n);
        await equationHolds();
      });

      it('is summed by what went beyond, and shown with the generation and its account', async () => {
        const limits = keyLimit(10n);
        await reserve(generation('g1', { limits }), credit(3n));
        await ledger.settle('g1', use(credit(20n), { exceededBy: 'searches' }));
        await reserve(generation('g2', { limits }), credit(0n));
        await ledger.settle('g2', use(credit(5n)));
        await reserve(generation('g3'), credit(1n));
        await ledger.settle('g3', use(credit(1n), { exceededBy: 'price' }));
        const none = Object.fromEntries(WRITE_OFF_CAUSES.map((cause) => [cause, 0n]));
        expect(ledger.writtenOff).toEqual({ ...none, output: 5n, searches: 10n });
        expect(await ledger.statementOf('account-1')).toMatchObject({
          settledNanos: 11n,
          writtenOffNanos: 15n,
          differenceNanos: 0n,
        });
        const causes = async () => {
          const rows = ['g1', 'g2', 'g3'].map((id) => under.generations.find('account-1', id));
          return (await Promise.all(rows)).map((row) => row?.writtenOffCause);
        };
        await expect.poll(causes).toEqual(['searches', 'output', null]);
        await equationHolds();
      });

      it('that an upstream reported and that is disputed is written off beside the charge', async () => {
        await reserve(generation('g1', { limits: keyLimit(10n) }), credit(3n));
        const disputed = { uncharged: [{ nanos: 500n, cause: 'disputed' }], exceededBy: 'prompt' } as const;
        expect(await ledger.settle('g1', use(credit(20n), disputed))).toEqual({
          charge: credit(10n),
          writtenOffNanos: 510n,
        });
        await reserve(generation('g2'), credit(3n));
        expect(
          (await ledger.settle('g2', use(credit(2n), { uncharged: [{ nanos: 1n, cause: 'abandoned' }] })))
            .charge,
        ).toEqual(credit(2n));
        expect(ledger.writtenOff).toMatchObject({ prompt: 10n, disputed: 500n, abandoned: 1n });
        expect(await ledger.statementOf('account-1')).toMatchObject({
          settledNanos: 12n,
          writtenOffNanos: 511n,
        });
        await expect
          .poll(() => under.generations.find('account-1', 'g1'))
          .toMatchObject({
            writtenOffNanos: 510n,
            writtenOffCause: 'disputed',
            row: {
              write_offs: [
                { cause: 'prompt', nanos: '10' },
                { cause: 'disputed', nanos: '500' },
              ],
            },
          });
        await equationHolds();
      });

      it('of an amount that no generation can have cost is capped, and nothing else waits for it', async () => {
        const most = 10n ** 18n;
        await reserve(generation('g1'), { creditNanos: 1n, byokNanos: 1n });
        expect(await ledger.settle('g1', use({ creditNanos: 2n ** 70n, byokNanos: 2n ** 64n }))).toEqual({
          charge: { creditNanos: most, byokNanos: most },
          writtenOffNanos: most,
        });
        expect(ledger.writtenOff.disputed).toBe(most);
        await reserve(generation('g2', { limits: keyLimit(most + 5n) }), credit(5n));
        await ledger.settle('g2', use(credit(2n ** 70n)));
        await ledger.grant('account-1', 7n, NOW);
        await ledger.forget('key', 'key-1', NOW);
        expect(await ledger.statementOf('account-1')).toMatchObject({
          settledNanos: most + 5n,
          leftNanos: 7n,
        });
        await expect.poll(() => under.generations.count()).toBe(2);
        expect(under.warnings).toEqual(Array(2).fill(expect.stringContaining('exceeds the maximum')));
        await equationHolds();
      });

      it('never takes a balance below zero', async () => {
        await ledger.grant('account-1', 5n, NOW);
        await reserve(generation('g1'), credit(2n));
        expect(await ledger.settle('g1', use(credit(9n)))).toEqual({
          charge: credit(5n),
          writtenOffNanos: 4n,
        });
        expect((await ledger.statementOf('account-1')).leftNanos).toBe(0n);
      });

      it('is charged in full if nothing is limited', async () => {
        await reserve(generation('g1'), credit(2n));
        expect(await ledger.settle('g1', use(credit(9n)))).toEqual({
          charge: credit(9n),
          writtenOffNanos: 0n,
        });
      });
    });

    describe('usage with BYOK credentials', () => {
      it('is counted apart and touches no balance', async () => {
        await ledger.grant('account-1', 10n, NOW);
        await spend('g1', byok(500n));
        expect(await ledger.statementOf('account-1')).toMatchObject({ settledNanos: 0n, leftNanos: 10n });
        const [key] = await ledger.spendingOf('key', ['key-1'], NOW);
        expect(key).toMatchObject({ credit: { lifetime: 0n }, byok: { lifetime: 500n, daily: 500n } });
      });

      it('uses up only the limits that count it', async () => {
        await spend('g1', byok(8n), { limits: keyLimit(10n, { countsByok: true }) });
        expect(await reserve(generation('g2', { limits: keyLimit(10n) }), byok(50n))).toMatchObject({
          ok: true,
        });
        await ledger.void('g2', NOW);
        const counted = keyLimit(10n, { countsByok: true });
        expect(await reserve(generation('g3', { limits: counted }), byok(3n))).toMatchObject({
          refusal: { scope: 'key', leftNanos: 2n },
        });
        expect(await reserve(generation('g3', { limits: counted }), credit(3n))).toMatchObject({ ok: false });
        expect(await reserve(generation('g3', { limits: counted }), byok(2n))).toMatchObject({ ok: true });
      });
    });

    describe('a balance', () => {
      it('is what was set, less what was spent since', async () => {
        await spend('g1', credit(4n));
        await ledger.grant('account-1', 10n, NOW);
        await spend('g2', credit(3n), { scopes: SIBLING });
        expect(await ledger.statementOf('account-1')).toEqual({
          accountId: 'account-1',
          grantedNanos: 14n,
          settledNanos: 7n,
          reservedNanos: 0n,
          leftNanos: 7n,
          writtenOffNanos: 0n,
          differenceNanos: 0n,
          fault: null,
        });
      });

      it('may be set below what is reserved, and then below zero; use does not take it further', async () => {
        await ledger.grant('account-1', 10n, NOW);
        await reserve(generation('g1'), credit(6n));
        await ledger.grant('account-1', 2n, NOW);
        expect((await ledger.statementOf('account-1')).leftNanos).toBe(-4n);
        expect(await reserve(generation('g2'), credit(1n))).toMatchObject({ refusal: { leftNanos: 0n } });
        expect((await ledger.settle('g1', use(credit(6n)))).charge).toEqual(credit(6n));
        expect((await ledger.statementOf('account-1')).leftNanos).toBe(-4n);
        await equationHolds();
      });

      it('that is no longer enforced refuses nothing and is forgotten', async () => {
        await ledger.grant('account-1', 5n, NOW);
        await ledger.grant('account-1', null, NOW);
        await spend('g1', credit(50n));
        expect(await ledger.statementOf('account-1')).toMatchObject({
          grantedNanos: null,
          leftNanos: null,
          settledNanos: 50n,
          differenceNanos: 0n,
        });
        await ledger.grant('account-1', 3n, NOW);
        expect(await ledger.statementOf('account-1')).toMatchObject({ grantedNanos: 53n, leftNanos: 3n });
      });
    });

    describe('forgetting', () => {
      it('frees the limit of a key or a workspace, and never the balance', async () => {
        await ledger.grant('account-1', 100n, NOW);
        await spend('g1', credit(8n));
        await ledger.forget('key', 'key-1', NOW);
        expect(await ledger.spendingOf('key', ['key-1'], NOW)).toMatchObject([{ credit: { lifetime: 0n } }]);
        expect(await ledger.spendingOf('workspace', ['workspace-1'], NOW)).toMatchObject([
          { credit: { lifetime: 8n } },
        ]);
        await ledger.forget('workspace', 'workspace-1', NOW);
        expect(await headroomOf({ limits: workspaceLimit(10n) })).toMatchObject({
          affordable: { creditNanos: 10n },
        });
        expect(await ledger.statementOf('account-1')).toMatchObject({ settledNanos: 8n, leftNanos: 92n });
        await ledger.forget('key', 'never-seen', NOW);
        await equationHolds();
      });

      it('does not release open reservations', async () => {
        await reserve(generation('g1'), credit(8n));
        await ledger.forget('key', 'key-1', NOW);
        expect((await ledger.settle('g1', use(credit(5n)))).charge).toEqual(credit(5n));
        expect(await ledger.statementOf('account-1')).toMatchObject({ settledNanos: 5n, reservedNanos: 0n });
      });
    });

    it('returns the spending of many in the requested order', async () => {
      await spend('g1', credit(1n));
      await spend('g2', credit(2n), { scopes: SIBLING });
      const spending = await ledger.spendingOf('key', ['key-2', 'nobody', 'key-1'], NOW);
      expect(spending.map(({ credit: { lifetime } }) => lifetime)).toEqual([2n, 0n, 1n]);
    });

    it('verifies every account that has money, with reservations summed again', async () => {
      await ledger.grant('account-1', 100n, NOW);
      await spend('g1', credit(8n));
      await reserve(generation('g2'), credit(5n));
      await spend('g3', credit(7n), { scopes: STRANGER });
      await expect.poll(() => under.generations.count()).toBe(2);
      const { accounts, openReservations, generations, journal } = await ledger.verify();
      expect([...accounts].sort((one, other) => (one.accountId < other.accountId ? -1 : 1))).toEqual([
        {
          accountId: 'account-1',
          grantedNanos: 100n,
          settledNanos: 8n,
          reservedNanos: 5n,
          leftNanos: 87n,
          writtenOffNanos: 0n,
          differenceNanos: 0n,
          fault: null,
        },
        {
          accountId: 'account-9',
          grantedNanos: null,
          settledNanos: 7n,
          reservedNanos: 0n,
          leftNanos: null,
          writtenOffNanos: 0n,
          differenceNanos: 0n,
          fault: null,
        },
      ]);
      expect({ openReservations, generations }).toEqual({ openReservations: 1, generations: 2 });
      expect(journal.tornTailBytes).toBe(0);
    });

    it('rebuilds its rows and returns their number', async () => {
      for (let index = 0; index < 30; index++) await spend(`g${index}`, credit(1n));
      await reserve(generation('open'), credit(1n));
      expect(await ledger.rebuild()).toBe(30);
      expect(await under.generations.count()).toBe(30);
      await equationHolds();
    });
  });
}
