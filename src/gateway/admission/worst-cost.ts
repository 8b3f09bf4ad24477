import type { Pricing } from '../../catalog/catalog.ts';
import { outputLimitAt } from '../../catalog/output-limit.ts';
import { feeUpTo, listPriceWithin, usOnly } from '../../catalog/prices/bill.ts';
import { pricingsUpTo } from '../../catalog/prices/price-history.ts';
import { mayBeServedBy } from '../../catalog/service-tier.ts';
import type { Amount } from '../../ir/amount.ts';
import { HOSTED_PRICES, pricesIn, type ToolPrice } from '../../ir/hosted-use.ts';
import type { Usage } from '../../ir/usage.ts';
import { costOf, countWithin, type Nanos, type Price, toNanosUp } from '../../kit/money.ts';
import type { WriteOffCause } from '../../ports/money/write-offs.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import type { PixelSize } from '../../tokens/pixel-size.ts';
import { imageTokensAt } from './image-tokens.ts';
import { type PaidCalls, paidCalls, type ToolsAsked } from './tools-asked.ts';

/** Quantities that determine the cost of a request before its answer is known. */
export interface CostFacts {
  /** Upper bound of the prompt's tokens, without images and files. */
  readonly promptTokens: number;
  /** Sizes of images whose tokens are not included above; undefined = size unknown. */
  readonly images: readonly (PixelSize | undefined)[];
  /** True if the prompt has files, audio or video, whose tokens only the upstream knows. */
  readonly mayFillContext: boolean;
  /** Images that are priced per image, if the endpoint has such a price. */
  readonly inputImages: number;
  /** Tools that the request lets an endpoint run. */
  readonly toolsAsked: ToolsAsked;
  /** Calls of such tools that are paid for, if the endpoint accepts a limit. */
  readonly mostCalls: number;
  /** True if the endpoint may compact the context before each pass of the model. */
  readonly mayCompact: boolean;
  /** True if the request names a region, which may cost more. */
  readonly namesRegion: boolean;
  readonly requestedOutputTokens: number | undefined;
  /** Share of the list price that is charged if a BYOK credential is used. */
  readonly byokFee: number;
  readonly atMs: number;
}

const RESERVED_OUTPUT_TOKENS = 32_768;

/** Context of an endpoint with no known length, tokens: that of the largest models. */
const ASSUMED_CONTEXT_TOKENS = 1_048_576;

/** Tokens that the result of one call of an upstream's tool adds to the prompt. */
const RESULT_TOKENS = 16_384;

/** Tokens of one summary of a compacted context: the request's own limits are not documented to apply to it. */
const SUMMARY_TOKENS = 16_384;

/** The highest cost of one candidate, as a function of its output limit. */
export class WorstCost {
  readonly candidate: Candidate;
  /** Upper bound of its output tokens, unless the call sets a lower limit. */
  readonly fullTokens: number;
  /** True if no known limit keeps it to `fullTokens`: the call must set one. */
  readonly isOutputAssumed: boolean;
  /** Prompt tokens that are paid for, with those of the results of tools. */
  readonly promptTokens: number;
  /** Output tokens that are paid for in addition: summaries of the context. */
  readonly #summaryTokens: number;
  readonly paidTools: PaidCalls;
  /** Price of the whole prompt with all tools and summaries. */
  readonly #fixedPrice: Price;
  readonly #outputPrice: Price;
  /** Undefined with the gateway's credential. */
  readonly #fee: number | undefined;

  constructor(candidate: Candidate, facts: CostFacts) {
    const { endpoint, access, model } = candidate;
    const tools = facts.toolsAsked(endpoint);
    const paid = paidCalls(tools, facts.mostCalls);
    const promptTokens = promptTokensOf(candidate, facts, paid.calls);
    // Output counts towards the context.
    const output = outputLimitAt(endpoint, facts.requestedOutputTokens, endpoint.contextLength);
    const prices = new DearestPrices(facts.mayFillContext);
    for (const served of mayBeServedBy(endpoint, model)) {
      for (const pricing of pricingsUpTo(served, facts.atMs, promptTokens)) prices.add(pricing);
    }
    this.candidate = candidate;
    this.fullTokens = output ?? RESERVED_OUTPUT_TOKENS;
    this.isOutputAssumed = output === undefined;
    this.promptTokens = promptTokens;
    this.#summaryTokens = facts.mayCompact
      ? (1 + paid.calls) * (outputLimitAt(endpoint, SUMMARY_TOKENS) ?? 0)
      : 0;
    this.paidTools = paid;
    const inputPrice = facts.namesRegion ? usOnly(prices.input) : prices.input;
    this.#outputPrice = facts.namesRegion ? usOnly(prices.output) : prices.output;
    this.#fixedPrice =
      costOf(promptTokens, inputPrice) +
      costOf(this.#summaryTokens, this.#outputPrice) +
      prices.request +
      costOf(facts.inputImages, prices.image) +
      prices.ofTools(paid);
    this.#fee = access.kind === 'byok' ? facts.byokFee : undefined;
  }

  /** Cost of so many output tokens, with the prompt. Rounded up, so that it pays for all of them. */
  amountOf(outputTokens: number): Amount {
    const listed = toNanosUp(this.#fixedPrice + costOf(outputTokens, this.#outputPrice));
    return this.#fee === undefined
      ? { creditNanos: listed, byokNanos: 0n }
      : { creditNanos: feeUpTo(listed, this.#fee), byokNanos: listed };
  }

  /** Output tokens that an amount pays for; -1 if it does not even pay for the prompt. */
  tokensWithin({ creditNanos, byokNanos }: Amount): number {
    if (this.#fee === undefined) return this.#countWithin(creditNanos);
    const listed = this.#countWithin(byokNanos);
    const ofFee = listPriceWithin(creditNanos, this.#fee);
    return ofFee === undefined ? listed : Math.min(listed, this.#countWithin(ofFee));
  }

  /** The reason why a usage exceeds what is paid for; `paidTokens`: output tokens. */
  exceededBy(usage: Usage, paidTokens: number): WriteOffCause {
    const { webSearchRequests, hosted, hostedCalls = 0, inputTokens, outputTokens } = usage;
    const { calls, units } = this.paidTools;
    if (webSearchRequests > (units.web_search ?? 0)) return 'searches';
    if (hosted !== undefined && HOSTED_PRICES.some((name) => (hosted[name] ?? 0) > (units[name] ?? 0)))
      return 'tools';
    if (inputTokens > this.promptTokens) return hostedCalls > calls ? 'tools' : 'prompt';
    return outputTokens > paidTokens + this.#summaryTokens ? 'output' : 'price';
  }

  #countWithin(nanos: Nanos): number {
    return countWithin(nanos, this.#fixedPrice, this.#outputPrice);
  }
}

/**
 * Each call of a tool sends the prompt through the model again, with the result. Before each pass the upstream decides
 * whether to compact, which sends the same once more.
 */
function promptTokensOf({ endpoint }: Candidate, facts: CostFacts, calls: number): number {
  const { contextLength = ASSUMED_CONTEXT_TOKENS } = endpoint;
  let known = facts.promptTokens;
  let { mayFillContext } = facts;
  for (const size of facts.images) {
    const tokens = imageTokensAt(endpoint, size);
    if (tokens === undefined) mayFillContext = true;
    else known += tokens;
  }
  const once = mayFillContext ? Math.max(known, contextLength) : known;
  const all = once + calls * (once + RESULT_TOKENS);
  return facts.mayCompact ? 2 * all : all;
}

/** The highest of several price lists, for each billed unit. */
class DearestPrices {
  /**
   * Highest price of a prompt token: fresh, read from a cache or written to one; sound too if the prompt may
   * have some.
   */
  input: Price = 0n;
  /** Highest price of an output token: text, thought, image or sound. */
  output: Price = 0n;
  request: Price = 0n;
  image: Price = 0n;
  readonly lists: Pricing[] = [];
  readonly #mayHaveMedia: boolean;

  constructor(mayHaveMedia: boolean) {
    this.#mayHaveMedia = mayHaveMedia;
  }

  add(pricing: Pricing): void {
    const { prompt = 0n, completion = 0n, request = 0n, image = 0n, image_token = 0n } = pricing;
    const { input_cache_read = 0n, input_cache_write = 0n, input_cache_write_1h = 0n } = pricing;
    const { internal_reasoning = 0n, image_output = 0n, audio_output = 0n } = pricing;
    this.input = highest(this.input, prompt, input_cache_read, input_cache_write, input_cache_write_1h);
    this.input = highest(this.input, image_token);
    if (this.#mayHaveMedia) {
      this.input = highest(this.input, pricing.audio ?? 0n, pricing.input_audio_cache ?? 0n);
    }
    this.output = highest(this.output, completion, internal_reasoning, image_output, audio_output);
    this.request = highest(this.request, request);
    this.image = highest(this.image, image);
    this.lists.push(pricing);
  }

  /** Highest price of the calls of tools that are paid for. */
  ofTools({ units }: PaidCalls): Price {
    let sum = 0n;
    for (const name of pricesIn(units)) sum += costOf(units[name] ?? 0, this.#dearest(name));
    return sum;
  }

  #dearest(name: ToolPrice): Price {
    return this.lists.reduce((found, pricing) => highest(found, pricing[name] ?? 0n), 0n);
  }
}

function highest(first: Price, ...others: readonly Price[]): Price {
  let found = first;
  for (const price of others) if (price > found) found = price;
  return found;
}
