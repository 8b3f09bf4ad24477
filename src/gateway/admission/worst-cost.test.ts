import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf } from '../../../test/builders/catalog.ts';
import { priceListsOf } from '../../catalog/price-history.ts';
import type { OwnCredential } from '../../ports/own-credentials.ts';
import type { Access } from '../../routing/candidate.ts';
import { WorstCost } from './worst-cost.ts';

const own: Access = { kind: 'own', credential: { id: 'c' } as OwnCredential };

function cost(pricing: Record<string, string>, fee?: number, endpoint = {}, asked?: number) {
  const offered = endpointOf({ priceLists: priceListsOf({ pricing }), ...endpoint });
  const access: Access = fee === undefined ? { kind: 'shared' } : own;
  return new WorstCost(
    { model: modelOf({ endpoints: [offered] }), endpoint: offered, access, lane: 'translate' },
    { promptTokens: 100, inputImages: 2, maxOutputTokens: asked, ownCredentialFee: fee ?? 0, atMs: 0 },
  );
}

describe('the worst cost', () => {
  it('takes the dearest way in which each token may be counted', () => {
    const pricing = {
      prompt: '0.000000002',
      input_cache_write: '0.000000003',
      completion: '0.000000005',
      internal_reasoning: '0.000000007',
      request: '0.00000001',
      image: '0.0000001',
    };
    expect(cost(pricing).amountOf(10)).toEqual({ creditNanos: 300n + 70n + 10n + 200n, byokNanos: 0n });
  });

  it.each([0, 1, 17, 1000])('pays for exactly the %i tokens that it names', (tokens) => {
    const dear = cost({ prompt: '0.00000000123', completion: '0.00000000777' });
    const amount = dear.amountOf(tokens);
    const within = dear.tokensWithin(amount);
    expect(dear.amountOf(within).creditNanos).toBeLessThanOrEqual(amount.creditNanos);
    expect(Math.abs(within - tokens)).toBeLessThanOrEqual(1);
  });

  it('is the fee beside the list price where the caller’s own credential is used', () => {
    const listed = cost({ prompt: '0.000000001', completion: '0.000000001' }, 0.05);
    expect(listed.amountOf(100)).toEqual({ creditNanos: 10n, byokNanos: 200n });
    expect(listed.tokensWithin({ creditNanos: 10n, byokNanos: 150n })).toBe(50);
    expect(listed.tokensWithin({ creditNanos: 6n, byokNanos: 1000n })).toBe(20);
  });

  it.each([
    [{ maxOutputTokens: 500, contextLength: 1000 }, undefined, 500],
    [{ maxOutputTokens: 500, contextLength: 1000 }, 40, 40],
    [{ maxOutputTokens: undefined, contextLength: 1000 }, undefined, 900],
    [{ maxOutputTokens: undefined, contextLength: 50 }, undefined, 1],
    [{ maxOutputTokens: undefined, contextLength: undefined }, undefined, 32_768],
  ])('knows how much %j writes, asked for %s', (endpoint, asked, full) => {
    expect(cost({}, undefined, endpoint, asked).fullTokens).toBe(full);
  });

  it('does not pay for a prompt that is too dear', () => {
    expect(cost({ prompt: '0.000001' }).tokensWithin({ creditNanos: 99n, byokNanos: 0n })).toBe(-1);
  });
});
