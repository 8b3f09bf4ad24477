import type { Endpoint } from '../../catalog/catalog.ts';

/** What endpoints are compared by: a token in and a token out, in 10^-18 USD, as of the catalogue's moment. */
export function tokenPriceOf({
  pricing: { prompt = 0n, completion = 0n },
}: Pick<Endpoint, 'pricing'>): number {
  // Exact up to 0.009 USD a token. Numbers are added, because thousands of sums of bigints would be a burden.
  return Number(prompt) + Number(completion);
}
