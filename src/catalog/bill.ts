import type { Bill, Usage } from '../ir/usage.ts';
import { costOf, type Nanos, type Price, toNanos } from '../kit/money.ts';
import type { Pricing } from './catalog.ts';

/** What a generation is priced by. */
export interface Billable {
  readonly usage: Usage;
  /** Images of the prompt; upstreams do not report them. */
  readonly inputImages: number;
}

/**
 * Prices a generation: summed exactly, rounded once. An absent cache price is the prompt price; tokens of images and of
 * reasoning without a price of their own are completion tokens; any other absent price is 0.
 */
export function billOf({ usage, inputImages }: Billable, pricing: Pricing): Bill {
  const input = inputCost(usage, inputImages, pricing);
  const total = toNanos(input + outputCost(usage, pricing));
  const inputNanos = toNanos(input);
  return { totalNanos: total, inputNanos, outputNanos: total - inputNanos, isByok: false };
}

/** A generation with the caller's own credential: listed at its price, charged a share of it. */
export function feeOnly(listed: Bill, share: number): Bill {
  return { ...listed, totalNanos: feeOf(listed.totalNanos, share), isByok: true };
}

/** A share of a list price, rounded half up. */
export function feeOf(listedNanos: Nanos, share: number): Nanos {
  const billionths = BigInt(Math.round(share * 1e9));
  return (listedNanos * billionths + 500_000_000n) / 1_000_000_000n;
}

/** Nothing was charged. */
export const FREE: Bill = { totalNanos: 0n, inputNanos: 0n, outputNanos: 0n, isByok: false };

function inputCost(usage: Usage, inputImages: number, pricing: Pricing): Price {
  const { prompt = 0n, input_cache_read = prompt, input_cache_write = prompt, request = 0n } = pricing;
  const { cachedTokens, cacheWriteTokens, cacheWrite1hTokens } = usage;
  const fresh = usage.inputTokens - cachedTokens - cacheWriteTokens - cacheWrite1hTokens;
  return (
    costOf(Math.max(0, fresh), prompt) +
    costOf(cachedTokens, input_cache_read) +
    costOf(cacheWriteTokens, input_cache_write) +
    costOf(cacheWrite1hTokens, pricing.input_cache_write_1h ?? input_cache_write) +
    request +
    costOf(inputImages, pricing.image ?? 0n)
  );
}

function outputCost(usage: Usage, pricing: Pricing): Price {
  const { completion = 0n, image_output = 0n, internal_reasoning = 0n, web_search = 0n } = pricing;
  const { outputTokens, imageTokens, reasoningTokens } = usage;
  const apart = (image_output === 0n ? 0 : imageTokens) + (internal_reasoning === 0n ? 0 : reasoningTokens);
  return (
    costOf(Math.max(0, outputTokens - apart), completion) +
    costOf(imageTokens, image_output) +
    costOf(reasoningTokens, internal_reasoning) +
    costOf(usage.webSearchRequests, web_search)
  );
}
