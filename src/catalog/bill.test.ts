import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../ir/usage.ts';
import { parsePrice } from '../kit/money.ts';
import { billOf } from './bill.ts';
import type { Pricing } from './catalog.ts';

const price = (text: string) => parsePrice(text) ?? 0n;
const usage = { ...NO_USAGE, inputTokens: 1000, cachedTokens: 300, cacheWriteTokens: 200, outputTokens: 50 };

describe('billOf', () => {
  it('counts cached and written tokens once, at their own price', () => {
    const pricing: Pricing = {
      prompt: price('0.000001'),
      completion: price('0.000004'),
      input_cache_read: price('0.0000001'),
      input_cache_write: price('0.00000125'),
    };
    const bill = billOf(usage, pricing);
    expect(bill.inputNanos).toBe(500n * 1000n + 300n * 100n + 200n * 1250n);
    expect(bill.outputNanos).toBe(50n * 4000n);
    expect(bill.totalNanos).toBe(bill.inputNanos + bill.outputNanos);
  });

  it('takes the prompt price where a cache price is absent, and nothing where any other is', () => {
    expect(billOf(usage, { prompt: price('0.000001') }).totalNanos).toBe(1_000_000n);
  });

  it('rounds the whole sum once, half up', () => {
    const tiny: Pricing = { prompt: price('0.0000000005') };
    expect(billOf({ ...NO_USAGE, inputTokens: 1 }, tiny).totalNanos).toBe(1n);
    expect(billOf({ ...NO_USAGE, inputTokens: 2 }, tiny).totalNanos).toBe(1n);
    expect(billOf({ ...NO_USAGE, inputTokens: 3 }, tiny).totalNanos).toBe(2n);
  });

  it('adds the price of the request itself', () => {
    expect(billOf(NO_USAGE, { request: price('0.01') }).totalNanos).toBe(10_000_000n);
  });
});
