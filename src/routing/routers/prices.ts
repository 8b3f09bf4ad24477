import type { Endpoint } from '../../catalog/catalog.ts';
import { parsePrice } from '../../kit/money.ts';
import { tokenPriceOf } from '../order/token-price.ts';

/** Price for comparing models: `tokenPriceOf` of the cheapest endpoint. */
export function cheapestTokenPrice(endpoints: readonly Endpoint[]): number {
  return endpoints.reduce(
    (least, endpoint) => Math.min(least, tokenPriceOf(endpoint)),
    Number.POSITIVE_INFINITY,
  );
}

/** Units of an exact price per USD. */
const UNITS_PER_USD = 1e18;

/** Lowest price of a prompt token, USD. */
export function cheapestPromptPrice(endpoints: readonly Endpoint[]): number {
  return Math.min(...endpoints.map(({ pricing }) => Number(pricing.prompt ?? 0n))) / UNITS_PER_USD;
}

/** True if prompt, completion and request cost nothing. */
export function isFree({ pricing }: Endpoint): boolean {
  return (pricing.prompt ?? 0n) + (pricing.completion ?? 0n) + (pricing.request ?? 0n) === 0n;
}

/** True if a million prompt tokens cost at most `most` USD. */
export function isPromptWithin(most: number, { pricing }: Endpoint): boolean {
  const limit = parsePrice(most.toFixed(12));
  return limit === undefined || (pricing.prompt ?? 0n) * 1_000_000n <= limit;
}
