import { describe, expect, it } from 'vitest';
import { callerOf } from '../../../test/kit/builders/tenancy.ts';
import { type Amount, NOTHING, plus } from '../../ir/amount.ts';
import { type Headroom, type Ledger, LedgerUnavailable, type Refusal } from '../../ports/money/ledger.ts';
import { GenerationReservation } from './reservation.ts';

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

const reservationOf = (ledger: Ledger) => new GenerationReservation(input, { ledger, now: () => 0 });

describe('the reservation of a generation', () => {
  it('holds free money first, and tops up by what that lacks', async () => {
    const { ledger, asked } = ledgerOf(100n);
    const reservation = reservationOf(ledger);
    expect(reservation.isOpen).toBe(false);
    await reservation.hold(row, () => credit(30n));
    expect(reservation.free).toEqual(NOTHING);
    reservation.release(credit(30n), credit(5n));
    expect(reservation.free).toEqual(credit(25n));
    expect(await reservation.hold(row, () => credit(20n))).toEqual({ ok: true, reserved: credit(20n) });
    expect(await reservation.hold(row, () => credit(30n))).toEqual({ ok: true, reserved: credit(30n) });
    expect(asked).toEqual(['reserve 30', 'top up 25']);
    expect(reservation.reserved).toEqual(credit(55n));
    expect(await reservation.hold(row, () => credit(46n))).toEqual({ ok: false, refusal });
  });

  it('gives free money to one of two legs that begin at the same time', async () => {
    const { ledger, asked } = ledgerOf(100n);
    const reservation = reservationOf(ledger);
    await reservation.hold(row, () => credit(50n));
    reservation.release(credit(50n), NOTHING);
    await Promise.all([reservation.hold(row, () => credit(40n)), reservation.hold(row, () => credit(40n))]);
    expect(asked).toEqual(['reserve 50', 'top up 30']);
    expect(reservation.free).toEqual(NOTHING);
  });

  it('counts free money as headroom', async () => {
    const { ledger } = ledgerOf(100n);
    const reservation = reservationOf(ledger);
    await reservation.hold(row, () => credit(60n));
    reservation.release(credit(60n), credit(10n));
    const seen: (bigint | null)[] = [];
    await reservation.hold(row, ({ affordable }) => {
      seen.push(affordable.creditNanos);
      return null;
    });
    expect(seen).toEqual([50n, 90n]);
  });

  it('without limits asks the ledger each time: free money binds nothing', async () => {
    const { ledger, asked } = ledgerOf(null);
    const reservation = reservationOf(ledger);
    await reservation.hold(row, () => credit(30n));
    reservation.release(credit(30n), NOTHING);
    await reservation.hold(row, () => credit(20n));
    expect(asked).toEqual(['reserve 30', 'top up 0']);
  });

  it('pays for charges, writes them down, and takes them back', async () => {
    const { ledger, asked } = ledgerOf(100n);
    const reservation = reservationOf(ledger);
    const paid = await reservation.charge(row, 'web_search', 40n);
    expect(reservation.charged).toEqual(credit(40n));
    expect(await reservation.charge(row, 'web_search', 61n)).toBeUndefined();
    await paid?.waive();
    await paid?.waive();
    expect(reservation.charged).toEqual(NOTHING);
    expect(reservation.free).toEqual(credit(40n));
    expect(asked).toEqual(['reserve 40', 'checkpoint 40', 'top up undefined', 'checkpoint 0']);
  });

  it('is opened once although two charges come at the same time', async () => {
    const { ledger, asked } = ledgerOf(100n);
    const reservation = reservationOf(ledger);
    const paid = await Promise.all([1, 2, 3].map(() => reservation.charge(row, 'web_search', 10n)));
    expect(paid.every((each) => each !== undefined)).toBe(true);
    expect(asked.filter((each) => each.startsWith('reserve'))).toHaveLength(1);
    expect(reservation.charged).toEqual(credit(30n));
  });

  it('takes no charge and gives none back once it is closed', async () => {
    const { ledger } = ledgerOf(100n);
    const reservation = reservationOf(ledger);
    const paid = await reservation.charge(row, 'web_search', 10n);
    const late = reservation.charge(row, 'web_search', 10n);
    reservation.close();
    await expect(late).rejects.toThrow('after the end');
    await paid?.waive();
    expect(reservation.charged).toEqual(credit(10n));
  });

  it('is not available where nothing can be reserved and no limit says so', async () => {
    const { ledger } = ledgerOf(100n);
    const reservation = reservationOf(ledger);
    await reservation.open(row);
    ledger.topUp = async () => ({ ok: false, refusal: null });
    await expect(reservation.hold(row, () => credit(1n))).rejects.toThrow(LedgerUnavailable);
    await expect(reservation.charge(row, 'web_search', 1n)).rejects.toThrow(LedgerUnavailable);
  });
});
