import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf } from '../../../test/kit/builders/catalog.ts';
import { priceListsOf } from '../../catalog/prices/price-history.ts';
import type { Affordable } from '../../ports/money/ledger.ts';
import { SHARED } from '../../routing/rules/candidate.ts';
import { sizeReservation } from './reservation-size.ts';
import { NO_TOOLS } from './tools-asked.ts';
import { WorstCost } from './worst-cost.ts';

/** 10 tokens of prompt at 1 nano-dollar, output at `price`. */
function costOf(price: string, requestedOutputTokens: number | undefined) {
  const pricing = { prompt: '0.000000001', completion: price };
  const endpoint = endpointOf({ priceLists: priceListsOf({ pricing }), maxOutputTokens: 10_000 });
  const candidate = {
    model: modelOf({ endpoints: [endpoint] }),
    endpoint,
    access: SHARED,
    lane: 'translate' as const,
    isSticky: false,
  };
  return new WorstCost(candidate, {
    promptTokens: 10,
    images: [],
    mayFillContext: false,
    toolsAsked: () => NO_TOOLS,
    mostCalls: 0,
    mayCompact: false,
    namesRegion: false,
    inputImages: 0,
    requestedOutputTokens,
    byokFee: 0,
    atMs: 0,
  });
}

const credits = (creditNanos: bigint | null): Affordable => ({ creditNanos, totalNanos: null });

function size(
  affordable: bigint | null,
  unspent: bigint | null,
  more: { asked?: number; learnt?: number; price?: string } = {},
) {
  const { asked, learnt, price = '0.000000001' } = more;
  return sizeReservation(
    [costOf(price, asked)],
    { affordable: credits(affordable), unspent: credits(unspent) },
    learnt,
  );
}

const reserving = (creditNanos: bigint, kind: string) =>
  expect.objectContaining({ amount: { creditNanos, byokNanos: 0n }, kind });

describe('the size of a reservation', () => {
  it('is all that it may cost where nothing binds', () => {
    expect(size(null, null)).toEqual(reserving(10_010n, 'open'));
    expect(size(null, null, { asked: 100 })).toEqual(reserving(110n, 'open'));
  });

  it('is all that it may cost where the money reaches', () => {
    expect(size(110n, 110n, { asked: 100 })).toEqual(reserving(110n, 'whole'));
  });

  it('is all of it even after short answers: hidden output is billed too', () => {
    expect(size(20_000n, 20_000n, { learnt: 20 })).toEqual(reserving(10_010n, 'whole'));
  });

  it('is the rest where the money is nearly gone and nothing is known', () => {
    expect(size(60n, 60n, { asked: 100 })).toEqual(reserving(60n, 'rest'));
    expect(size(60n, 60n)).toEqual(reserving(60n, 'rest'));
  });

  it('is nothing where others hold the money, unless answers are known to be short', () => {
    expect(size(60n, 110n, { asked: 100 })).toBeNull();
    expect(size(60n, 110n, { asked: 100, learnt: 51 })).toBeNull();
    expect(size(60n, 110n, { asked: 100, learnt: 50 })).toEqual(reserving(60n, 'rest'));
    expect(size(60n, 60n, { asked: 100, learnt: 2 })).toEqual(reserving(30n, 'rest'));
  });

  it('is nothing where not even a short answer can be paid', () => {
    expect(size(0n, 0n)).toBeNull();
    expect(size(9n, 9n)).toBeNull();
    expect(size(25n, 25n)).toBeNull();
    expect(size(26n, 26n)).toEqual(reserving(26n, 'rest'));
    expect(size(12n, 12n, { asked: 2 })).toEqual(reserving(12n, 'whole'));
  });

  it('leaves room for more than was learnt, and for others', () => {
    expect(size(5000n, 5000n, { learnt: 200 })).toEqual(reserving(2500n, 'rest'));
    expect(size(2500n, 5000n, { learnt: 200 })).toEqual(reserving(1610n, 'rest'));
    expect(size(890n, 5000n, { learnt: 200 })).toEqual(reserving(890n, 'rest'));
    expect(size(200n, 5000n, { learnt: 200 })).toBeNull();
  });

  it('is nothing for what costs nothing, whatever is left', () => {
    const free = costOf('0', undefined);
    const none = credits(10n);
    expect(sizeReservation([free], { affordable: none, unspent: none }, undefined)).toEqual(
      reserving(10n, 'whole'),
    );
  });

  it('pays the first and those that fit beside it', () => {
    const [cheap, dear] = [costOf('0.000000001', 100), costOf('0.000001', 100)];
    const headroom = { affordable: credits(500n), unspent: credits(500n) };
    expect(sizeReservation([cheap, dear], headroom, undefined)).toEqual(reserving(110n, 'rest'));
    expect(cheap.tokensWithin({ creditNanos: 110n, byokNanos: 0n })).toBe(100);
    expect(dear.tokensWithin({ creditNanos: 110n, byokNanos: 0n })).toBe(0);
  });
});
