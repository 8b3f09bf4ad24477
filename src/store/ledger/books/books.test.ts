import { describe, expect, it } from 'vitest';
import { type Amount, NOTHING } from '../../../ir/amount.ts';
import { LIMIT_WINDOWS, type LimitWindow } from '../../../kit/time/windows.ts';
import type { Limit, Limits } from '../../../ports/money/ledger.ts';
import { parseSnapshot, renderSnapshot } from '../snapshot/snapshot-lines.ts';
import { Books } from './books.ts';
import { crashSettlementOf, interruptedUse } from './open-generation.ts';

const NOON = Date.parse('2025-06-18T12:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const scopes = { key: 'k', workspace: 'w', account: 'a' };
const FREE: Limits = { key: [], workspace: [] };

const credit = (nanos: bigint): Amount => ({ creditNanos: nanos, byokNanos: 0n });
const byok = (nanos: bigint): Amount => ({ creditNanos: 0n, byokNanos: nanos });
const limit = (nanos: bigint, window: LimitWindow = 'lifetime', countsByok = false): Limit => ({
  window,
  nanos,
  countsByok,
});
const keyLimit = (...limits: Limit[]): Limits => ({ key: limits, workspace: [] });
const budget = (...limits: Limit[]): Limits => ({ key: [], workspace: limits });

function reserve(books: Books, generationId: string, amount: Amount, limits = FREE, atMs = NOON) {
  return books.reserve({ generationId, scopes, limits, amount, row: {}, atMs });
}

const settle = (books: Books, generationId: string, used: Amount, atMs = NOON) =>
  books.settle(generationId, { used, row: {}, atMs });

const spent = (books: Books, atMs = NOON) => books.spendingOf('key', 'k', atMs).credit;

describe('reserving', () => {
  it('neither limits nor charges the balance of an account without a grant', () => {
    const books = new Books();
    expect(reserve(books, 'g', credit(10n ** 15n)).ok).toBe(true);
    expect(books.headroom({ scopes, limits: FREE, atMs: NOON }).affordable).toEqual({
      creditNanos: null,
      totalNanos: null,
    });
    expect(books.statementOf('a')).toMatchObject({
      grantedNanos: null,
      leftNanos: null,
      writtenOffNanos: 0n,
      differenceNanos: 0n,
      fault: null,
    });
  });

  it('goes up to the limit to the nano, spent and reserved counted', () => {
    const books = new Books();
    const limits = keyLimit(limit(10n));
    reserve(books, 'one', credit(4n), limits);
    settle(books, 'one', credit(3n));
    reserve(books, 'two', credit(5n), limits);
    expect(reserve(books, 'three', credit(3n), limits)).toEqual({
      ok: false,
      reason: 'limit',
      refusal: { scope: 'key', window: 'lifetime', limitNanos: 10n, leftNanos: 2n },
    });
    expect(reserve(books, 'four', credit(2n), limits).ok).toBe(true);
  });

  it('reserves in every scope, or in none', () => {
    const books = new Books();
    books.grant('a', 5n, NOON);
    const limits: Limits = { key: [limit(100n)], workspace: [limit(100n)] };
    expect(reserve(books, 'g', credit(6n), limits)).toMatchObject({ refusal: { scope: 'account' } });
    expect(books.headroom({ scopes, limits, atMs: NOON }).affordable.creditNanos).toBe(5n);
    books.grant('a', null, NOON);
    expect(books.headroom({ scopes, limits, atMs: NOON }).affordable.creditNanos).toBe(100n);
  });

  it('names the limit that leaves least, the narrowest of equals', () => {
    const books = new Books();
    books.grant('a', 1n, NOON);
    const limits: Limits = {
      key: [limit(1n, 'daily')],
      workspace: [limit(1n, 'weekly'), limit(0n, 'daily')],
    };
    const refusal = { scope: 'workspace', window: 'daily', limitNanos: 0n, leftNanos: 0n };
    expect(reserve(books, 'g', credit(2n), limits)).toMatchObject({ refusal });
    expect(books.tightestLimit({ scopes, limits, atMs: NOON })).toEqual(refusal);
    expect(reserve(books, 'g', credit(2n), { ...limits, workspace: [limit(1n, 'weekly')] })).toMatchObject({
      refusal: { scope: 'key', window: 'daily' },
    });
    expect(
      books.tightestLimit({ scopes: { ...scopes, account: 'b' }, limits: FREE, atMs: NOON }),
    ).toBeUndefined();
  });

  it('refuses an id twice', () => {
    const books = new Books();
    reserve(books, 'g', credit(1n));
    expect(() => reserve(books, 'g', credit(1n))).toThrow('accepted before');
    settle(books, 'g', credit(1n));
    expect(() => reserve(books, 'g', credit(1n))).toThrow('accepted before');
  });

  it('refuses negative amounts', () => {
    const books = new Books();
    reserve(books, 'open', credit(1n));
    expect(() => reserve(books, 'g', credit(-1n))).toThrow(RangeError);
    expect(() => books.topUp('open', () => byok(-1n), NOON)).toThrow(RangeError);
    expect(() => settle(books, 'open', credit(-1n))).toThrow(RangeError);
    expect(books.verify()).toMatchObject([{ reservedNanos: 1n, settledNanos: 0n }]);
  });

  it('counts BYOK only where the limit does', () => {
    const books = new Books();
    books.grant('a', 0n, NOON);
    expect(reserve(books, 'plain', byok(50n), keyLimit(limit(10n))).ok).toBe(true);
    settle(books, 'plain', byok(4n));
    const limits = keyLimit(limit(10n, 'lifetime', true));
    expect(books.headroom({ scopes, limits, atMs: NOON }).affordable).toEqual({
      creditNanos: 0n,
      totalNanos: 6n,
    });
    expect(reserve(books, 'refused', byok(7n), limits)).toMatchObject({ refusal: { leftNanos: 6n } });
    expect(reserve(books, 'counted', byok(6n), limits).ok).toBe(true);
    expect(books.spendingOf('key', 'k', NOON)).toMatchObject({
      credit: { lifetime: 0n },
      byok: { lifetime: 4n, daily: 4n },
    });
  });

  it.each(LIMIT_WINDOWS)('begins a %s window anew, while what is reserved stays reserved', (window) => {
    const books = new Books();
    const limits = budget(limit(10n, window));
    reserve(books, 'one', credit(6n), limits);
    settle(books, 'one', credit(6n));
    reserve(books, 'held', credit(3n), limits);
    expect(books.headroom({ scopes, limits, atMs: NOON }).affordable.creditNanos).toBe(1n);
    const later = NOON + 31 * DAY;
    expect(books.headroom({ scopes, limits, atMs: later }).affordable.creditNanos).toBe(
      window === 'lifetime' ? 1n : 7n,
    );
  });

  it('does not get a used-up window back when the clock is set back', () => {
    const books = new Books();
    const limits = keyLimit(limit(10n, 'daily'));
    const [before, after] = [NOON + 11.5 * HOUR, NOON + 12.5 * HOUR];
    reserve(books, 'one', credit(10n), limits, after);
    settle(books, 'one', credit(10n), after);
    expect(reserve(books, 'two', credit(1n), limits, before).ok).toBe(false);
    expect(reserve(books, 'three', credit(1n), limits, after).ok).toBe(false);
    expect(reserve(books, 'four', credit(1n), limits, after + DAY).ok).toBe(true);
  });
});

describe('topping up', () => {
  it('is checked as a reservation is', () => {
    const books = new Books();
    reserve(books, 'g', credit(4n), keyLimit(limit(10n)));
    expect(books.topUp('g', () => credit(6n), NOON)).toMatchObject({
      ok: true,
      record: { reserved: credit(10n) },
    });
    expect(books.topUp('g', () => credit(1n), NOON)).toMatchObject({
      ok: false,
      refusal: { scope: 'key', leftNanos: 0n },
    });
    expect(books.open.get('g')?.reserved).toEqual(credit(10n));
  });

  it('reports that no generation is open', () => {
    const books = new Books();
    reserve(books, 'g', credit(4n));
    settle(books, 'g', NOTHING);
    expect(books.topUp('g', () => credit(1n), NOON)).toEqual({ ok: false, reason: 'ended' });
    expect(books.topUp('other', () => credit(1n), NOON)).toEqual({ ok: false, reason: 'unknown' });
  });
});

describe('settling', () => {
  it('charges once', () => {
    const books = new Books();
    books.grant('a', 100n, NOON);
    reserve(books, 'g', credit(10n));
    expect(settle(books, 'g', credit(7n))).toMatchObject({
      ok: true,
      record: { kind: 'settle', charge: credit(7n), writtenOffNanos: 0n, scopes },
    });
    expect(settle(books, 'g', credit(7n))).toEqual({ ok: false, reason: 'ended' });
    expect(books.void('g', NOON)).toEqual({ ok: false, reason: 'ended' });
    expect(spent(books).lifetime).toBe(7n);
    expect(books.verify()).toEqual([
      {
        accountId: 'a',
        grantedNanos: 100n,
        settledNanos: 7n,
        reservedNanos: 0n,
        leftNanos: 93n,
        writtenOffNanos: 0n,
        differenceNanos: 0n,
        fault: null,
      },
    ]);
  });

  it('keeps an explicit zero', () => {
    const books = new Books();
    reserve(books, 'g', credit(10n));
    settle(books, 'g', NOTHING);
    expect(spent(books)).toEqual({ lifetime: 0n, daily: 0n, weekly: 0n, monthly: 0n });
  });

  it('charges more than was reserved where nothing limits it', () => {
    const books = new Books();
    reserve(books, 'g', credit(10n));
    settle(books, 'g', credit(25n));
    expect(spent(books).lifetime).toBe(25n);
  });

  it('charges what a limit still leaves beyond the reservation, and writes the rest off', () => {
    const books = new Books();
    books.grant('a', 30n, NOON);
    reserve(books, 'other', credit(5n));
    reserve(books, 'g', credit(10n));
    expect(books.chargeFor('g', credit(40n), NOON)).toEqual(credit(25n));
    expect(settle(books, 'g', credit(40n))).toMatchObject({
      record: { charge: credit(25n), writtenOffNanos: 15n },
    });
    settle(books, 'other', credit(5n));
    expect(books.statementOf('a')).toMatchObject({ settledNanos: 30n, leftNanos: 0n, differenceNanos: 0n });
  });

  it('books what BYOK credentials served in full, whatever a limit says', () => {
    const books = new Books();
    reserve(books, 'g', byok(5n), keyLimit(limit(5n, 'lifetime', true)));
    settle(books, 'g', { creditNanos: 2n, byokNanos: 9n });
    expect(books.spendingOf('key', 'k', NOON)).toMatchObject({
      credit: { lifetime: 0n },
      byok: { lifetime: 9n },
    });
  });

  it('charges what was reserved before the limit was lowered', () => {
    const books = new Books();
    books.grant('a', 30n, NOON);
    reserve(books, 'g', credit(20n));
    books.grant('a', 5n, NOON);
    expect(books.statementOf('a')).toMatchObject({ grantedNanos: 5n, reservedNanos: 20n, leftNanos: -15n });
    expect(reserve(books, 'more', credit(1n))).toMatchObject({
      refusal: { scope: 'account', leftNanos: 0n },
    });
    settle(books, 'g', credit(20n));
    expect(books.verify()).toMatchObject([{ settledNanos: 20n, leftNanos: -15n, differenceNanos: 0n }]);
  });

  it('counts into the window in which it happens', () => {
    const books = new Books();
    reserve(books, 'g', credit(3n), FREE, NOON);
    settle(books, 'g', credit(3n), NOON + DAY);
    expect(spent(books, NOON + DAY).daily).toBe(3n);
  });
});

describe('voiding', () => {
  it('gives everything back and charges nothing', () => {
    const books = new Books();
    books.grant('a', 10n, NOON);
    reserve(books, 'g', credit(10n), keyLimit(limit(10n)));
    expect(books.void('g', NOON).ok).toBe(true);
    expect(books.open.size).toBe(0);
    expect(books.headroom({ scopes, limits: keyLimit(limit(10n)), atMs: NOON }).affordable.creditNanos).toBe(
      10n,
    );
    expect(books.verify()).toMatchObject([{ settledNanos: 0n, leftNanos: 10n, differenceNanos: 0n }]);
  });
});

describe('granting', () => {
  it('sets what is left, independent of earlier spending', () => {
    const books = new Books();
    reserve(books, 'g', credit(7n));
    settle(books, 'g', credit(7n));
    expect(books.grant('a', 5n, NOON).record.grantedNanos).toBe(12n);
    expect(books.statementOf('a')).toMatchObject({ grantedNanos: 12n, settledNanos: 7n, leftNanos: 5n });
    books.grant('a', null, NOON);
    expect(books.statementOf('a')).toMatchObject({
      grantedNanos: null,
      leftNanos: null,
      writtenOffNanos: 0n,
      differenceNanos: 0n,
      fault: null,
    });
    expect(reserve(books, 'h', credit(100n)).ok).toBe(true);
  });

  it('keeps the later grant if the record of an earlier one comes again', () => {
    const books = new Books();
    const first = books.grant('a', 5n, NOON);
    books.grant('a', 50n, NOON);
    expect(books.apply(first.record)).toBe('repeated');
    expect(books.statementOf('a')).toMatchObject({ grantedNanos: 50n, leftNanos: 50n });
  });
});

describe('forgetting', () => {
  it('forgets a deleted key, and not what its account has spent', () => {
    const books = new Books();
    reserve(books, 'g', credit(7n));
    settle(books, 'g', credit(7n));
    books.forget('key', 'k', NOON);
    expect([...books.idsOf('key')]).toEqual([]);
    expect(spent(books).lifetime).toBe(0n);
    expect(books.statementOf('a').settledNanos).toBe(7n);
  });

  it('keeps what is reserved', () => {
    const books = new Books();
    reserve(books, 'g', credit(7n));
    books.forget('key', 'k', NOON);
    const limits = keyLimit(limit(10n));
    expect(books.headroom({ scopes, limits, atMs: NOON }).affordable.creditNanos).toBe(3n);
    settle(books, 'g', credit(7n));
    expect(spent(books).lifetime).toBe(7n);
  });
});

describe('after a crash', () => {
  it('a generation without output costs nothing', () => {
    const books = new Books();
    const done = reserve(books, 'g', credit(7n));
    const restarted = new Books();
    if (done.ok) restarted.apply(done.record);
    const [generation] = [...restarted.open.values()];
    expect(generation).toMatchObject({ generationId: 'g', acceptedAtMs: NOON, checkpoint: null });
    expect(crashSettlementOf(generation!)).toEqual({ charge: NOTHING, usageSource: 'none' });
  });

  it('one in the middle costs what its last checkpoint says', () => {
    const books = new Books();
    const records = [
      reserve(books, 'g', credit(7n)),
      books.checkpoint('g', { used: credit(2n), row: { n: 1 }, atMs: NOON }),
    ];
    records.push(books.checkpoint('g', { used: credit(4n), row: { n: 2 }, atMs: NOON + 1 }));
    const restarted = new Books();
    // The first checkpoint comes again, after the second.
    for (const done of [...records, records[1]!]) if (done.ok) restarted.apply(done.record);
    const generation = restarted.open.get('g')!;
    expect(generation.checkpoint?.row).toEqual({ n: 2 });
    expect(crashSettlementOf(generation)).toEqual({ charge: credit(4n), usageSource: 'estimated' });
  });

  it('writes off what the last checkpoint did, and the rest of what was reserved', () => {
    const books = new Books();
    reserve(books, 'g', credit(7n));
    const write_offs = [{ cause: 'time_limit', nanos: '5' }];
    books.checkpoint('g', { used: credit(4n), row: { write_offs }, atMs: NOON });
    const settled = books.settle('g', interruptedUse(books.open.get('g')!, NOON));
    if (!settled.ok) throw new Error('not done');
    expect(settled.record).toMatchObject({ charge: credit(4n), writtenOffNanos: 8n });
    expect(settled.record.row.write_offs).toEqual([...write_offs, { cause: 'cut', nanos: '3' }]);
  });

  it('a charge is booked whose reservation was lost, and a reservation that comes after its end is not', () => {
    const books = new Books();
    const accepted = reserve(books, 'g', credit(7n));
    const settled = settle(books, 'g', credit(7n));
    if (!accepted.ok || !settled.ok) throw new Error('not done');
    const restarted = new Books();
    expect(restarted.apply(settled.record)).toBe('applied');
    expect(restarted.apply(accepted.record)).toBe('repeated');
    expect(restarted.apply(settled.record)).toBe('repeated');
    expect(spent(restarted).lifetime).toBe(7n);
    expect(restarted.verify()).toMatchObject([{ reservedNanos: 0n, differenceNanos: 0n }]);
  });

  it('a record that a snapshot holds changes nothing, even when its id is no longer remembered', () => {
    const books = new Books();
    reserve(books, 'g', credit(7n));
    const settled = settle(books, 'g', credit(7n));
    const restarted = new Books({ ...books.snapshot(), ended: { older: [], recent: [] } });
    if (settled.ok) expect(restarted.apply(settled.record)).toBe('repeated');
    expect(spent(restarted).lifetime).toBe(7n);
  });
});

describe('what was written off', () => {
  it('is summed for the account, over grants and snapshots; those of older versions know of none', () => {
    const books = new Books();
    reserve(books, 'g', credit(2n), keyLimit(limit(5n)));
    settle(books, 'g', credit(9n));
    books.grant('a', 1n, NOON);
    expect(books.statementOf('a')).toMatchObject({ writtenOffNanos: 4n, differenceNanos: 0n });
    const lines = [...renderSnapshot(books.snapshot())];
    expect(new Books(parseSnapshot(lines)).statementOf('a')).toMatchObject({ writtenOffNanos: 4n });
    const older = lines.map((line) => line.replace('"writtenOffNanos":"4",', ''));
    expect(older).not.toEqual(lines);
    expect(new Books(parseSnapshot(older)).statementOf('a')).toMatchObject({ writtenOffNanos: 0n });
  });
});
