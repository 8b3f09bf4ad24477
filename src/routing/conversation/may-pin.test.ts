import { describe, expect, it } from 'vitest';
import { endpointOf } from '../../../test/kit/builders/catalog.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { mayPin } from './may-pin.ts';

const pricedAt = (prompt: bigint, input_cache_read?: bigint) =>
  endpointOf({ pricing: { prompt, ...(input_cache_read !== undefined && { input_cache_read }) } });
const CHEAP_CACHE = pricedAt(10n, 1n);
const READ = { ...NO_USAGE, cachedTokens: 5 };
const WRITTEN = { ...NO_USAGE, cacheWriteTokens: 5 };

describe('mayPin', () => {
  it.each([
    ['a named conversation', 'explicit', NO_USAGE, pricedAt(10n), false, true],
    ['a named conversation with an order', 'explicit', READ, CHEAP_CACHE, true, false],
    ['no cache use', 'opening', NO_USAGE, CHEAP_CACHE, false, false],
    ['the cache was read', 'opening', READ, CHEAP_CACHE, false, true],
    ['the cache was written', 'opening', WRITTEN, CHEAP_CACHE, false, true],
    ['the cache was read under an order', 'opening', READ, CHEAP_CACHE, true, false],
    ['a cache that costs the same', 'opening', READ, pricedAt(10n, 10n), false, false],
    ['a cache without a price', 'opening', READ, pricedAt(10n), false, false],
    ['everything is free', 'opening', READ, pricedAt(0n, 0n), false, false],
  ] as const)('%s', (_, kind, usage, endpoint, hasOrder, expected) => {
    expect(mayPin({ kind, usage, endpoint, hasOrder })).toBe(expected);
  });
});
