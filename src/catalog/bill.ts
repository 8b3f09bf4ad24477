import type { Bill, Usage } from '../ir/usage.ts';
import { chargeOf, type Price } from '../kit/money.ts';
import type { Pricing } from './catalog.ts';

/** Prices a generation: summed exactly, rounded once. An absent cache price is the prompt price, any other absent price 0. */
export function billOf(usage: Usage, pricing: Pricing, isByok = false): Bill {
  const input = inputLines(usage, pricing);
  const output = outputLines(usage, pricing);
  const total = chargeOf([...input, ...output]);
  const inputNanos = chargeOf(input);
  return { totalNanos: total, inputNanos, outputNanos: total - inputNanos, isByok };
}

/** Nothing was charged. */
export const FREE: Bill = { totalNanos: 0n, inputNanos: 0n, outputNanos: 0n, isByok: false };

type Line = readonly [count: number, price: Price];

function inputLines(usage: Usage, pricing: Pricing): Line[] {
  const prompt = pricing.prompt ?? 0n;
  const cacheWrite = pricing.input_cache_write ?? prompt;
  const fresh = usage.inputTokens - usage.cachedTokens - usage.cacheWriteTokens - usage.cacheWrite1hTokens;
  return [
    [Math.max(0, fresh), prompt],
    [usage.cachedTokens, pricing.input_cache_read ?? prompt],
    [usage.cacheWriteTokens, cacheWrite],
    [usage.cacheWrite1hTokens, pricing.input_cache_write_1h ?? cacheWrite],
    [1, pricing.request ?? 0n],
  ];
}

function outputLines(usage: Usage, pricing: Pricing): Line[] {
  const completion = pricing.completion ?? 0n;
  const imagePrice = pricing.image_output;
  const imageTokens = imagePrice === undefined ? 0 : usage.imageTokens;
  return [
    [usage.outputTokens - imageTokens, completion],
    [imageTokens, imagePrice ?? 0n],
    [usage.reasoningTokens, pricing.internal_reasoning ?? 0n],
    [usage.webSearchRequests, pricing.web_search ?? 0n],
  ];
}
