import type { Pricing } from '../../catalog/catalog.ts';
import { outputLimitAt } from '../../catalog/output-limit.ts';
import { feeUpTo, listPriceWithin, usOnly } from '../../catalog/prices/bill.ts';
import { pricingsUpTo } from '../../catalog/prices/price-history.ts';
import { mayBeServedBy } from '../../catalog/service-tier.ts';
import type { Amount } from '../../ir/amount.ts';
import type { Usage } from '../../ir/usage.ts';
import { costOf, countWithin, type Nanos, type Price, toNanosUp } from '../../kit/money.ts';
import type { WriteOffCause } from '../../ports/ledger.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import type { PixelSize } from '../../tokens/pixel-size.ts';
import { imageTokensAt } from './image-tokens.ts';
import type { SearchesAsked } from './searches-asked.ts';

/** What the cost of a request depends on, before anything of its answer is known. */
export interface CostFacts {
  /** Tokens of the prompt, at most, images and files apart. */
  readonly promptTokens: number;
  /** Images whose tokens are not among them; undefined = of a size that is not known. */
  readonly images: readonly (PixelSize | undefined)[];
  /** The prompt holds files, recordings or films: their tokens are known to the upstream alone. */
  readonly mayFillContext: boolean;
  /** Images that have a price of their own, where they have one. */
  readonly inputImages: number;
  /** Searches that the request lets an endpoint run. */
  readonly searchesAsked: SearchesAsked;
  /** Searches that are paid for, where the endpoint can be told a limit. */
  readonly mostSearches: number;
  /** The request lets the endpoint compact the context before each pass of the model. */
  readonly mayCompact: boolean;
  /** The request names a region to which the endpoint keeps, and which may cost more. */
  readonly namesRegion: boolean;
  /** The output limit that the caller named. */
  readonly requestedOutputTokens: number | undefined;
  /** Share of the list price that is charged if a BYOK credential is used. */
  readonly byokFee: number;
  /** When the request came in, epoch milliseconds. */
  readonly atMs: number;
}

/** Output of endpoints that nothing is known of, tokens. */
const USUAL_OUTPUT = 32_768;

/** Context of endpoints that nothing is known of, tokens: as much as the largest have. */
const USUAL_CONTEXT = 1_048_576;

/** Searches of an endpoint that is given no limit. */
export const USUAL_SEARCHES = 10;

/** What one search adds to the prompt, tokens: the results that the model reads. */
const SEARCH_RESULT_TOKENS = 16_384;

/** What one summary of a compacted context has, tokens: no limit that a request names is documented to hold for it. */
const SUMMARY_TOKENS = 16_384;

/** The most that one candidate may cost, as a function of the output that it is let write. */
export class WorstCost {
  readonly candidate: Candidate;
  /** Output tokens that it writes at most, unless the call sets a lower limit. */
  readonly fullTokens: number;
  /** Nothing says that it writes no more than `fullTokens`: it has to be told. */
  readonly isOutputAssumed: boolean;
  /** Tokens of the prompt that are paid for, those of search results included. */
  readonly promptTokens: number;
  /** Output tokens that are paid for besides: summaries of the context. */
  readonly #summaryTokens: number;
  /** Searches that are paid for. */
  readonly searches: number;
  /** Whether the endpoint may run more searches than are paid for, and can be told not to. */
  readonly mustBoundSearches: boolean;
  /** The price of the whole prompt, of all searches and summaries. */
  readonly #fixedPrice: Price;
  readonly #outputPrice: Price;
  /** Undefined where the gateway's credential is used. */
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
    this.fullTokens = output ?? USUAL_OUTPUT;
    this.isOutputAssumed = output === undefined;
    this.promptTokens = promptTokens;
    this.#summaryTokens = facts.mayCompact
      ? (1 + searches) * Math.min(SUMMARY_TOKENS, endpoint.maxOutputTokens ?? SUMMARY_TOKENS)
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

  /** What so much output costs, the prompt included. Rounded up: it pays for all of it. */
  amountOf(outputTokens: number): Amount {
    const listed = toNanosUp(this.#fixedPrice + costOf(outputTokens, this.#outputPrice));
    return this.#fee === undefined
      ? { creditNanos: listed, byokNanos: 0n }
      : { creditNanos: feeUpTo(listed, this.#fee), byokNanos: listed };
  }

  /** Output tokens that an amount pays for; -1 when it does not even pay for the prompt. */
  tokensWithin({ creditNanos, byokNanos }: Amount): number {
    if (this.#fee === undefined) return this.#countWithin(creditNanos);
    const listed = this.#countWithin(byokNanos);
    const ofFee = listPriceWithin(creditNanos, this.#fee);
    return ofFee === undefined ? listed : Math.min(listed, this.#countWithin(ofFee));
  }

  /** What of a usage went beyond what is paid for; `paidTokens`: of output. */
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
  const searches = Math.min(most, isBoundable ? mostSearches : USUAL_SEARCHES);
  return { searches, mustBound: isBoundable && searches < most };
}

/**
 * Each search sends the prompt through the model again, together with what was found. Whether to compact is decided
 * before each of these passes, and sends the same through once more.
 */
function promptTokensOf({ endpoint }: Candidate, facts: CostFacts, searches: number): number {
  const { contextLength = USUAL_CONTEXT } = endpoint;
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

/** For each unit that may be billed, the highest of several price lists. */
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
