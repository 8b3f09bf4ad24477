import { describe, expect, it } from 'vitest';
import { callerOf } from '../../../test/builders/tenancy.ts';
import { type Amount, NOTHING, plus } from '../../ir/amount.ts';
import { type Headroom, type Ledger, LedgerUnavailable, type Refusal } from '../../ports/ledger.ts';
import { GenerationPurse } from './purse.ts';

const credit = (creditNanos: bigint): Amount => ({ creditNanos, byokNanos: 0n });
const row = () => ({});
const input = { generationId: 'g', caller: callerOf() };
const refusal: Refusal = { scope: 'key', window: 'lifetime', limitNanos: 0n, leftNanos: 0n };

/** A ledger with one limit, and what it was asked. */
function ledgerOf(limit: bigint | null) {
  const asked: string[] = [];
  let reserved = NOTHING;
  const headroom = (): Headroom => {
    const left = limit === null ? null : limit - reserved.creditNanos;
    const affordable = { creditNanos: left, totalNanos: left };
    return { affordable, unspent: affordable };
  };
  const reserve = (amount: Amount | null) => {
    const left = headroom().affordable.creditNanos;
    if (amount === null || (left !== null && amount.creditNanos > left)) return false;
    reserved = plus(reserved, amount);
    return true;
  };
  const ledger = {
    async reserve(_: unknown, size: (headroom: Headroom) => Amount | null) {
      const amount = size(headroom());
      asked.push(`reserve ${amount?.creditNanos}`);
      return reserve(amount) ? { ok: true, reserved: amount } : { ok: false, refusal };
    },
    async topUp(_: string, size: (headroom: Headroom) => Amount | null) {
      await null;
      const more = size(headroom());
      asked.push(`top up ${more?.creditNanos}`);
      return reserve(more) ? { ok: true, more } : { ok: false, refusal };
    },
    async checkpoint(_: string, { used }: { used: Amount }) {
      asked.push(`checkpoint ${used.creditNanos}`);
    },
  } as unknown as Ledger;
  return { ledger, asked };
}

const purseOf = (ledger: Ledger) => new GenerationPurse(input, { ledger, now: () => 0 });

describe('a purse', () => {
  it('takes out of what is free first, and tops up by what that lacks', async () => {
    const { ledger, asked } = ledgerOf(100n);
    const purse = purseOf(ledger);
    expect(purse.isOpen).toBe(false);
    await purse.take(row, () => credit(30n));
    expect(purse.free).toEqual(NOTHING);
    purse.giveBack(credit(30n), credit(5n));
    expect(purse.free).toEqual(credit(25n));
    expect(await purse.take(row, () => credit(20n))).toEqual({ ok: true, reserved: credit(20n) });
    expect(await purse.take(row, () => credit(30n))).toEqual({ ok: true, reserved: credit(30n) });
    expect(asked).toEqual(['reserve 30', 'top up 25']);
    expect(purse.reserved).toEqual(credit(55n));
    expect(await purse.take(row, () => credit(46n))).toEqual({ ok: false, refusal });
  });

  it('gives what is free to one of two that take at the same time', async () => {
    const { ledger, asked } = ledgerOf(100n);
    const purse = purseOf(ledger);
    await purse.take(row, () => credit(50n));
    purse.giveBack(credit(50n), NOTHING);
    await Promise.all([purse.take(row, () => credit(40n)), purse.take(row, () => credit(40n))]);
    expect(asked).toEqual(['reserve 50', 'top up 30']);
    expect(purse.free).toEqual(NOTHING);
  });

  it('says what there is with what is free, so that a size is judged by both', async () => {
    const { ledger } = ledgerOf(100n);
    const purse = purseOf(ledger);
    await purse.take(row, () => credit(60n));
    purse.giveBack(credit(60n), credit(10n));
    const seen: (bigint | null)[] = [];
    await purse.take(row, ({ affordable }) => {
      seen.push(affordable.creditNanos);
      return null;
    });
    expect(seen).toEqual([50n, 90n]);
  });

  it('opened by nobody but a limitless caller asks the ledger each time: what is free binds nothing', async () => {
    const { ledger, asked } = ledgerOf(null);
    const purse = purseOf(ledger);
    await purse.take(row, () => credit(30n));
    purse.giveBack(credit(30n), NOTHING);
    await purse.take(row, () => credit(20n));
    expect(asked).toEqual(['reserve 30', 'top up 0']);
  });

  it('pays for charges, writes them down, and takes them back', async () => {
    const { ledger, asked } = ledgerOf(100n);
    const purse = purseOf(ledger);
    const paid = await purse.charge(row, 'web_search', 40n);
    expect(purse.charged).toEqual(credit(40n));
    expect(await purse.charge(row, 'web_search', 61n)).toBeUndefined();
    await paid?.waive();
    await paid?.waive();
    expect(purse.charged).toEqual(NOTHING);
    expect(purse.free).toEqual(credit(40n));
    expect(asked).toEqual(['reserve 40', 'checkpoint 40', 'top up undefined', 'checkpoint 0']);
  });

  it('is not available where nothing can be reserved and no limit says so', async () => {
    const { ledger } = ledgerOf(100n);
    const purse = purseOf(ledger);
    await purse.open(row);
    ledger.topUp = async () => ({ ok: false, refusal: null });
    await expect(purse.take(row, () => credit(1n))).rejects.toThrow(LedgerUnavailable);
    await expect(purse.charge(row, 'web_search', 1n)).rejects.toThrow(LedgerUnavailable);
  });
});
