import { type HostedUse, pricesIn } from '../../ir/hosted-use.ts';
import type { Bill, Usage } from '../../ir/usage.ts';
import { costOf, type Nanos, type Price, restOf, toNanos } from '../../kit/money.ts';
import type { Pricing } from '../catalog.ts';

export interface Billable {
  readonly usage: Usage;
  /** Images of the prompt, which upstreams do not report. */
  readonly inputImages: number;
}

/**
 * A usage at given prices: summed exactly, rounded once; `priceOfAnswer` finds the prices. Defaults: cache prices =
 * the prompt price, sound and pictures = the price of text on their side, reasoning tokens = the completion price, any
 * other price = 0.
 */
export function billOf({ usage, inputImages }: Billable, pricing: Pricing): Bill {
  const { request = 0n, image = 0n } = pricing;
  const ofTokens = usage.isUsOnly ? usOnly : asListed;
  const input = ofTokens(inputCost(usage, pricing)) + request + costOf(inputImages, image);
  const output = ofTokens(outputCost(usage, pricing)) + toolCost(usage, pricing);
  const total = toNanos(input + output);
  const inputNanos = toNanos(input);
  const bill = { totalNanos: total, inputNanos, outputNanos: total - inputNanos, isByok: false };
  const rest = restOf(input + output, total);
  return rest === 0n ? bill : { ...bill, rest };
}

/** The cost of searches, exactly: part of a bill. */
function searchCost(searches: number, { web_search = 0n }: Pricing): Price {
  return costOf(searches, web_search);
}

/** What the upstream's own tools cost, exactly: part of a bill. */
function toolCost({ webSearchRequests, hosted }: ToolsUsed, pricing: Pricing): Price {
  const searched = searchCost(webSearchRequests, pricing);
  return hosted === undefined ? searched : searched + hostedCost(hosted, pricing);
}

/** Counts of a usage that its tools cost something for. */
export type ToolsUsed = Pick<Usage, 'webSearchRequests' | 'hosted'>;

function hostedCost(hosted: HostedUse, pricing: Pricing): Price {
  return pricesIn(hosted).reduce((sum, name) => sum + costOf(hosted[name] ?? 0, pricing[name] ?? 0n), 0n);
}

/** What the upstream's own tools cost as an amount of its own. */
export function toolNanos(used: ToolsUsed, pricing: Pricing): Nanos {
  return toNanos(toolCost(used, pricing));
}

/** The cost of searches as an amount of its own. */
export function searchNanos(searches: number, pricing: Pricing): Nanos {
  return toNanos(searchCost(searches, pricing));
}

const asListed = (cost: Price): Price => cost;

/**
 * Price of tokens processed in the United States only: 1.1 times the list price, rounded up. Searches are not affected
 * (Anthropic, Pricing, Data residency).
 */
export function usOnly(cost: Price): Price {
  return (cost * 11n + 9n) / 10n;
}

/** Bill of a generation with a BYOK credential: only a share of the list price is charged. */
export function feeOnly({ totalNanos, inputNanos, outputNanos }: Bill, share: number): Bill {
  return { totalNanos: feeOf(totalNanos, share), inputNanos, outputNanos, isByok: true };
}

/** A share of a list price, rounded half up. */
export function feeOf(listedNanos: Nanos, share: number): Nanos {
  return (listedNanos * billionthsOf(share) + 500_000_000n) / BILLION;
}

/** A share of a list price, rounded up: the reservation for a fee. */
export function feeUpTo(listedNanos: Nanos, share: number): Nanos {
  return (listedNanos * billionthsOf(share) + BILLION - 1n) / BILLION;
}

/** The highest list price whose share is at most `feeNanos`; undefined = unlimited, for a share of 0. */
export function listPriceWithin(feeNanos: Nanos, share: number): Nanos | undefined {
  const billionths = billionthsOf(share);
  return billionths === 0n ? undefined : (feeNanos * BILLION) / billionths;
}

const BILLION = 1_000_000_000n;

function billionthsOf(share: number): bigint {
  return BigInt(Math.round(share * 1e9));
}

export const FREE: Bill = { totalNanos: 0n, inputNanos: 0n, outputNanos: 0n, isByok: false };

/** Prices of prompt tokens that a cache reads and writes; absent ones fall back on the prompt price. */
export function cachePricesOf(pricing: Pricing): {
  readonly read: Price;
  readonly write: Price;
  readonly write1h: Price;
} {
  const { prompt = 0n, input_cache_read = prompt, input_cache_write = prompt } = pricing;
  const { input_cache_write_1h = input_cache_write } = pricing;
  return { read: input_cache_read, write: input_cache_write, write1h: input_cache_write_1h };
}

function inputCost(usage: Usage, pricing: Pricing): Price {
  const { prompt = 0n } = pricing;
  const cache = cachePricesOf(pricing);
  const { inputTokens } = usage;
  // Parts that add up to more than the total are cut, so that each token is priced once.
  const cached = Math.min(usage.cachedTokens, inputTokens);
  const written = Math.min(usage.cacheWriteTokens, inputTokens - cached);
  const written1h = Math.min(usage.cacheWrite1hTokens, inputTokens - cached - written);
  const fresh = inputTokens - cached - written - written1h;
  const ofText =
    costOf(fresh, prompt) +
    costOf(cached, cache.read) +
    costOf(written, cache.write) +
    costOf(written1h, cache.write1h);
  return ofText + mediaSurcharge(usage, { fresh, cached }, pricing);
}

/** What sound and pictures in a prompt cost beyond as many tokens of text; negative if they cost less. */
function mediaSurcharge(
  { audioTokens = 0, cachedAudioTokens = 0, inputImageTokens = 0 }: Usage,
  { fresh, cached }: { readonly fresh: number; readonly cached: number },
  pricing: Pricing,
): Price {
  if (audioTokens === 0 && inputImageTokens === 0) return 0n;
  const { prompt = 0n, audio = prompt, image_token = prompt } = pricing;
  const { read } = cachePricesOf(pricing);
  const { input_audio_cache = read } = pricing;
  const heardBefore = Math.min(cachedAudioTokens, audioTokens, cached);
  const heard = Math.min(audioTokens - heardBefore, fresh);
  const seen = Math.min(inputImageTokens, fresh - heard);
  return (
    costOf(heardBefore, input_audio_cache) -
    costOf(heardBefore, read) +
    costOf(heard, audio) +
    costOf(seen, image_token) -
    costOf(heard + seen, prompt)
  );
}

function outputCost(usage: Usage, pricing: Pricing): Price {
  const { completion = 0n, image_output = 0n, audio_output = 0n, internal_reasoning = 0n } = pricing;
  const { outputTokens } = usage;
  const images = image_output === 0n ? 0 : Math.min(usage.imageTokens, outputTokens);
  const sound = audio_output === 0n ? 0 : Math.min(usage.audioOutputTokens ?? 0, outputTokens - images);
  const others = outputTokens - images - sound;
  const thoughts = internal_reasoning === 0n ? 0 : Math.min(usage.reasoningTokens, others);
  return (
    costOf(others - thoughts, completion) +
    costOf(images, image_output) +
    costOf(sound, audio_output) +
    costOf(thoughts, internal_reasoning)
  );
}
