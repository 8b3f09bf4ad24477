import type { Endpoint } from '../../catalog/catalog.ts';
import { parsePrice } from '../../kit/money.ts';
import { tokenPriceOf } from '../order/token-price.ts';

/** The price that models are compared by: that of the cheapest endpoint, as endpoints are compared. */
export function cheapestTokenPrice(endpoints: readonly Endpoint[]): number {
  return endpoints.reduce(
    (least, endpoint) => Math.min(least, tokenPriceOf(endpoint)),
    Number.POSITIVE_INFINITY,
  );
}

/** Units of an exact price in one dollar. */
const UNITS_PER_USD = 1e18;

/** A token of the prompt at the cheapest endpoint, USD. */
export function cheapestPromptPrice(endpoints: readonly Endpoint[]): number {
  return Math.min(...endpoints.map(({ pricing }) => Number(pricing.prompt ?? 0n))) / UNITS_PER_USD;
}

/** Whether nothing is charged for the prompt, the answer or the request itself. */
export function isFree({ pricing }: Endpoint): boolean {
  return (pricing.prompt ?? 0n) + (pricing.completion ?? 0n) + (pricing.request ?? 0n) === 0n;
}

/** Whether a million tokens of the prompt cost at most so many USD. */
export function isPromptWithin(most: number, { pricing }: Endpoint): boolean {
  const limit = parsePrice(most.toFixed(12));
  return limit === undefined || (pricing.prompt ?? 0n) * 1_000_000n <= limit;
}
