import { describe, expect, it } from 'vitest';
import { NO_USAGE, type Usage } from '../../ir/usage.ts';
import { parsePrice } from '../../kit/money.ts';
import type { Pricing } from '../catalog.ts';
import { billOf as billFor } from './bill.ts';

const billOf = (usage: Usage, pricing: Pricing, inputImages = 0) => billFor({ usage, inputImages }, pricing);
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

  it('adds the price of each image of the prompt to the input', () => {
    const bill = billOf(usage, { image: price('0.001') }, 3);
    expect(bill).toMatchObject({ totalNanos: 3_000_000n, inputNanos: 3_000_000n, outputNanos: 0n });
    expect(billOf(usage, {}, 3).totalNanos).toBe(0n);
  });

  const thoughtful = { ...NO_USAGE, outputTokens: 100, reasoningTokens: 60, imageTokens: 30 };
  it.each<[string, Pricing, bigint]>([
    ['without prices of their own', {}, 100n * 4000n],
    ['reasoning', { internal_reasoning: price('0.000001') }, 40n * 4000n + 60n * 1000n],
    ['images', { image_output: price('0.00001') }, 70n * 4000n + 30n * 10_000n],
    [
      'both',
      { internal_reasoning: price('0.000001'), image_output: price('0.00001') },
      10n * 4000n + 60n * 1000n + 30n * 10_000n,
    ],
    ['a price of 0, which is none', { internal_reasoning: 0n, image_output: 0n }, 100n * 4000n],
  ])('charges each completion token once: %s', (_, own, nanos) => {
    expect(billOf(thoughtful, { completion: price('0.000004'), ...own }).outputNanos).toBe(nanos);
  });
});
