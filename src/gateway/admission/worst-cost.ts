import type { Pricing } from '../../catalog/catalog.ts';
import { outputLimitAt } from '../../catalog/output-limit.ts';
import { feeUpTo, listPriceWithin, usOnly } from '../../catalog/prices/bill.ts';
import { pricingsUpTo } from '../../catalog/prices/price-history.ts';
import { mayBeServedBy } from '../../catalog/service-tier.ts';
import type { Amount } from '../../ir/amount.ts';
import type { Usage } from '../../ir/usage.ts';
import { costOf, countWithin, type Nanos, type Price, toNanosUp } from '../../kit/money.ts';
import type { WriteOffCause } from '../../ports/write-offs.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import type { PixelSize } from '../../tokens/pixel-size.ts';
import { imageTokensAt } from './image-tokens.ts';
import type { SearchesAsked } from './searches-asked.ts';

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
  /** Searches that the request allows an endpoint. */
  readonly searchesAsked: SearchesAsked;
  /** Searches that are paid for, if the endpoint accepts a limit. */
  readonly mostSearches: number;
  /** True if the endpoint may compact the context before each pass of the model. */
  readonly mayCompact: boolean;
  /** True if the request names a region, which may cost more. */
  readonly namesRegion: boolean;
  /** The caller's output limit. */
  readonly requestedOutputTokens: number | undefined;
  /** Share of the list price that is charged if a BYOK credential is used. */
  readonly byokFee: number;
  /** Arrival of the request, epoch milliseconds. */
  readonly atMs: number;
}

/** Output tokens that are reserved for an endpoint with no known limit. */
const RESERVED_OUTPUT_TOKENS = 32_768;

/** Context of an endpoint with no known length, tokens: that of the largest models. */
const ASSUMED_CONTEXT_TOKENS = 1_048_576;

/** Searches of an endpoint that accepts no limit. */
export const ASSUMED_SEARCHES = 10;

/** Tokens that the results of one search add to the prompt. */
const SEARCH_RESULT_TOKENS = 16_384;

/** Tokens of one summary of a compacted context: the request's own limits are not documented to apply to it. */
const SUMMARY_TOKENS = 16_384;

/** The highest cost of one candidate, as a function of its output limit. */
export class WorstCost {
  readonly candidate: Candidate;
  /** Upper bound of its output tokens, unless the call sets a lower limit. */
  readonly fullTokens: number;
  /** True if no known limit keeps it to `fullTokens`: the call must set one. */
  readonly isOutputAssumed: boolean;
  /** Prompt tokens that are paid for, with those of search results. */
  readonly promptTokens: number;
  /** Output tokens that are paid for in addition: summaries of the context. */
  readonly #summaryTokens: number;
  /** Searches that are paid for. */
  readonly searches: number;
  /** True if the endpoint would run more searches than are paid for, and accepts a limit. */
  readonly mustBoundSearches: boolean;
  /** Price of the whole prompt with all searches and summaries. */
  readonly #fixedPrice: Price;
  readonly #outputPrice: Price;
  /** Undefined with the gateway's credential. */
  readonly #fee: number | undefined;

  constructor(candidate: Candidate, facts: CostFacts) {
    const { endpoint, access, model } = candidate;
    const { searches, mustBound } = searchesOf(candidate, facts);
    const promptTokens = promptTokensOf(candidate, facts, searches);
    // Output counts towards the context.
    const output = outputLimitAt(endpoint, facts.requestedOutputTokens, endpoint.contextLength);
    const prices = new DearestPrices();
    for (const served of mayBeServedBy(endpoint, model)) {
      for (const pricing of pricingsUpTo(served, facts.atMs, promptTokens)) prices.add(pricing);
    }
    this.candidate = candidate;
    this.fullTokens = output ?? RESERVED_OUTPUT_TOKENS;
    this.isOutputAssumed = output === undefined;
    this.promptTokens = promptTokens;
    this.#summaryTokens = facts.mayCompact
      ? (1 + searches) * (outputLimitAt(endpoint, SUMMARY_TOKENS) ?? 0)
      : 0;
    this.searches = searches;
    this.mustBoundSearches = mustBound;
    const inputPrice = facts.namesRegion ? usOnly(prices.input) : prices.input;
    this.#outputPrice = facts.namesRegion ? usOnly(prices.output) : prices.output;
    this.#fixedPrice =
      costOf(promptTokens, inputPrice) +
      costOf(this.#summaryTokens, this.#outputPrice) +
      prices.request +
      costOf(facts.inputImages, prices.image) +
      costOf(searches, prices.search);
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
  exceededBy({ webSearchRequests, inputTokens, outputTokens }: Usage, paidTokens: number): WriteOffCause {
    if (webSearchRequests > this.searches) return 'searches';
    if (inputTokens > this.promptTokens) return 'prompt';
    return outputTokens > paidTokens + this.#summaryTokens ? 'output' : 'price';
  }

  #countWithin(nanos: Nanos): number {
    return countWithin(nanos, this.#fixedPrice, this.#outputPrice);
  }
}

function searchesOf({ endpoint }: Candidate, { searchesAsked, mostSearches }: CostFacts) {
  const { most, isBoundable } = searchesAsked(endpoint);
  if (most === 0) return { searches: 0, mustBound: false };
  const searches = Math.min(most, isBoundable ? mostSearches : ASSUMED_SEARCHES);
  return { searches, mustBound: isBoundable && searches < most };
}

/**
 * Each search sends the prompt through the model again, with the results. Before each pass the upstream decides
 * whether to compact, which sends the same once more.
 */
function promptTokensOf({ endpoint }: Candidate, facts: CostFacts, searches: number): number {
  const { contextLength = ASSUMED_CONTEXT_TOKENS } = endpoint;
  let known = facts.promptTokens;
  let { mayFillContext } = facts;
  for (const size of facts.images) {
    const tokens = imageTokensAt(endpoint, size);
    if (tokens === undefined) mayFillContext = true;
    else known += tokens;
  }
  const once = mayFillContext ? Math.max(known, contextLength) : known;
  const all = once + searches * (once + SEARCH_RESULT_TOKENS);
  return facts.mayCompact ? 2 * all : all;
}

/** For each billed unit the highest of several price lists. */
class DearestPrices {
  /** Of a prompt token: fresh, read from a cache or written to one. */
  input: Price = 0n;
  /** Of an output token: text, thought or image. */
  output: Price = 0n;
  request: Price = 0n;
  image: Price = 0n;
  search: Price = 0n;

  add(pricing: Pricing): void {
    const { prompt = 0n, completion = 0n, request = 0n, image = 0n, web_search = 0n } = pricing;
    const { input_cache_read = 0n, input_cache_write = 0n, input_cache_write_1h = 0n } = pricing;
    const { internal_reasoning = 0n, image_output = 0n } = pricing;
    this.input = highest(this.input, prompt, input_cache_read, input_cache_write, input_cache_write_1h);
    this.output = highest(this.output, completion, internal_reasoning, image_output);
    this.request = highest(this.request, request);
    this.image = highest(this.image, image);
    this.search = highest(this.search, web_search);
  }
}

function highest(first: Price, ...others: readonly Price[]): Price {
  let found = first;
  for (const price of others) if (price > found) found = price;
  return found;
}
