import type { Bill, Usage } from '../ir/usage.ts';
import { chargeOf, type Nanos, type Price } from '../kit/money.ts';
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
export function billOf(billable: Billable, pricing: Pricing): Bill {
  const { usage } = billable;
  const input = inputLines(billable, pricing);
  const output = outputLines(usage, pricing);
  const total = chargeOf([...input, ...output]);
  const inputNanos = chargeOf(input);
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

type Line = readonly [count: number, price: Price];

function inputLines({ usage, inputImages }: Billable, pricing: Pricing): Line[] {
  const prompt = pricing.prompt ?? 0n;
  const cacheWrite = pricing.input_cache_write ?? prompt;
  const fresh = usage.inputTokens - usage.cachedTokens - usage.cacheWriteTokens - usage.cacheWrite1hTokens;
  return [
    [Math.max(0, fresh), prompt],
    [usage.cachedTokens, pricing.input_cache_read ?? prompt],
    [usage.cacheWriteTokens, cacheWrite],
    [usage.cacheWrite1hTokens, pricing.input_cache_write_1h ?? cacheWrite],
    [1, pricing.request ?? 0n],
    [inputImages, pricing.image ?? 0n],
  ];
}

function outputLines(usage: Usage, pricing: Pricing): Line[] {
  const apart: Line[] = [
    [usage.imageTokens, pricing.image_output ?? 0n],
    [usage.reasoningTokens, pricing.internal_reasoning ?? 0n],
  ].filter((line): line is [number, Price] => line[1] !== 0n);
  const rest = apart.reduce((left, [tokens]) => left - tokens, usage.outputTokens);
  return [
    [Math.max(0, rest), pricing.completion ?? 0n],
    ...apart,
    [usage.webSearchRequests, pricing.web_search ?? 0n],
  ];
}
