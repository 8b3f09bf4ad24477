import type { Usage } from '../../ir/usage.ts';
import { chargeOf, type Nanos } from '../../kit/money.ts';
import type { Pricing } from '../catalog.ts';
import { cachePricesOf } from './bill.ts';

/** Amount saved by caching; negative if writing the cache cost more than reading saved. */
export function cacheDiscount(usage: Usage, pricing: Pricing): Nanos {
  const { cachedTokens, cacheWriteTokens, cacheWrite1hTokens } = usage;
  const tokens = cachedTokens + cacheWriteTokens + cacheWrite1hTokens;
  if (tokens === 0) return 0n;
  const { read, write, write1h } = cachePricesOf(pricing);
  const uncached = chargeOf([[tokens, pricing.prompt ?? 0n]]);
  const cached = chargeOf([
    [cachedTokens, read],
    [cacheWriteTokens, write],
    [cacheWrite1hTokens, write1h],
  ]);
  return uncached - cached;
}
