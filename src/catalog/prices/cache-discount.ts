import type { Usage } from '../../ir/usage.ts';
import { chargeOf, type Nanos } from '../../kit/money.ts';
import type { Pricing } from '../catalog.ts';

/** Amount saved by caching; negative if writing the cache cost more than reading saved. */
export function cacheDiscount(usage: Usage, pricing: Pricing): Nanos {
  const { cachedTokens, cacheWriteTokens, cacheWrite1hTokens } = usage;
  const tokens = cachedTokens + cacheWriteTokens + cacheWrite1hTokens;
  if (tokens === 0) return 0n;
  const prompt = pricing.prompt ?? 0n;
  const cacheWrite = pricing.input_cache_write ?? prompt;
  const uncached = chargeOf([[tokens, prompt]]);
  const cached = chargeOf([
    [cachedTokens, pricing.input_cache_read ?? prompt],
    [cacheWriteTokens, cacheWrite],
    [cacheWrite1hTokens, pricing.input_cache_write_1h ?? cacheWrite],
  ]);
  return uncached - cached;
}
