import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf } from '../../../test/kit/builders/catalog.ts';
import { runAtOnce } from '../../kit/loop/turns.ts';
import { nextChangeMs, priceListsOf, pricingAt } from './price-history.ts';

const MAY = Date.parse('2026-05-01');
const JUNE = Date.parse('2026-06-01T12:00:00Z');

const priceLists = priceListsOf({
  pricing: { prompt: '0.000003', completion: '0.000009' },
  prices: [
    { from: '2026-05-01', pricing: { prompt: '0.000002', completion: '0.000006' } },
    {
      from: '2026-06-01T12:00:00Z',
      pricing: {
        prompt: '0.000001',
        completion: '0.000005',
        overrides: [
          { min_prompt_tokens: 1001, prompt: '0.000002' },
          { min_prompt_tokens: 5000, prompt: '0.000004', completion: '0.00001' },
        ],
      },
    },
  ],
});
const endpoint = endpointOf({ priceLists });
const perMillion = (atMs: number, promptTokens?: number) => {
  const { prompt = 0n, completion = 0n } = pricingAt(endpoint, atMs, promptTokens);
  return [prompt, completion].map((price) => Number(price / 10n ** 12n));
};

describe('pricingAt', () => {
  it('is what held at the moment, from the first millisecond on', () => {
    expect(perMillion(0)).toEqual([3, 9]);
    expect(perMillion(MAY - 1)).toEqual([3, 9]);
    expect(perMillion(MAY)).toEqual([2, 6]);
    expect(perMillion(JUNE - 1)).toEqual([2, 6]);
    expect(perMillion(JUNE)).toEqual([1, 5]);
  });

  it('depends on the length of the prompt where the price does', () => {
    expect(perMillion(JUNE, 1000)).toEqual([1, 5]);
    expect(perMillion(JUNE, 1001)).toEqual([2, 5]);
    expect(perMillion(JUNE, 5000)).toEqual([4, 10]);
    expect(perMillion(MAY, 5000)).toEqual([2, 6]);
  });

  it('is the one price of an endpoint without history', () => {
    const plain = endpointOf();
    expect(pricingAt(plain, 0, 1e9)).toBe(plain.pricing);
  });
});

describe('nextChangeMs', () => {
  it('is the next beginning of all, if any is still to come', () => {
    const models = [modelOf(), modelOf({ endpoints: [endpoint, endpointOf()] })];
    expect(runAtOnce(nextChangeMs(models, 0))).toBe(MAY);
    expect(runAtOnce(nextChangeMs(models, MAY))).toBe(JUNE);
    expect(runAtOnce(nextChangeMs(models, JUNE))).toBeUndefined();
  });
});
