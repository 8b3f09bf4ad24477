import { expect, it } from 'vitest';
import { NO_USAGE } from '../../ir/usage.ts';
import { parsePrice } from '../../kit/money.ts';
import { cacheDiscount } from './cache-discount.ts';

const price = (text: string) => parsePrice(text) ?? 0n;
const pricing = {
  prompt: price('0.00000001'),
  input_cache_read: price('0.000000001'),
  input_cache_write: price('0.0000000125'),
};

it.each([
  ['nothing', {}, 0n],
  ['reading', { cachedTokens: 100 }, 900n],
  ['writing', { cacheWriteTokens: 100 }, -250n],
  ['writing for an hour, which has no price of its own', { cacheWrite1hTokens: 100 }, -250n],
  ['both', { cachedTokens: 100, cacheWriteTokens: 100 }, 650n],
])('computes what caching saved: %s', (_, usage, nanos) => {
  expect(cacheDiscount({ ...NO_USAGE, ...usage }, pricing)).toBe(nanos);
});

it('saves nothing where caches have no prices', () => {
  const usage = { ...NO_USAGE, cachedTokens: 100, cacheWriteTokens: 100 };
  expect(cacheDiscount(usage, { prompt: pricing.prompt })).toBe(0n);
});
