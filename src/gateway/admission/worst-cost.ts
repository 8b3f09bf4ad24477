import { feeOf } from '../../catalog/bill.ts';
import type { Pricing } from '../../catalog/catalog.ts';
import { pricingAt } from '../../catalog/price-history.ts';
import type { Amount } from '../../ir/amount.ts';
import { costOf, countWithin, type Nanos, type Price, toNanos } from '../../kit/money.ts';
import type { Candidate } from '../../routing/candidate.ts';

/** What the cost of a request depends on, before anything of its answer is known. */
export interface CostFacts {
  readonly promptTokens: number;
  readonly inputImages: number;
  /** The output limit that the caller named. */
  readonly maxOutputTokens: number | undefined;
  /** Share of the list price that is charged where the caller's own credential is used. */
  readonly ownCredentialFee: number;
  /** When the request came in, epoch milliseconds. */
  readonly atMs: number;
}

/** Output of endpoints that nothing is known of, tokens. */
const USUAL_OUTPUT = 32_768;

/** The most that one candidate may cost, as a function of the output that it is let write. */
export class WorstCost {
  readonly candidate: Candidate;
  /** Output tokens that it writes at most, unless it is told to write less. */
  readonly fullTokens: number;
  /** The price of the whole prompt. */
  readonly #inputPrice: Price;
  readonly #outputPrice: Price;
  /** Undefined where the gateway's own credential is used. */
  readonly #fee: number | undefined;

  constructor(candidate: Candidate, facts: CostFacts) {
    const { endpoint, access } = candidate;
    const pricing = pricingAt(endpoint, facts.atMs, facts.promptTokens);
    this.candidate = candidate;
    this.fullTokens = outputTokensOf(candidate, facts);
    this.#inputPrice = inputPriceOf(pricing, facts);
    this.#outputPrice = dearestOutput(pricing);
    this.#fee = access.kind === 'own' ? facts.ownCredentialFee : undefined;
  }

  /** What so much output costs, the prompt included. */
  amountOf(outputTokens: number): Amount {
    const listed = toNanos(this.#inputPrice + costOf(outputTokens, this.#outputPrice));
    return this.#fee === undefined
      ? { creditNanos: listed, byokNanos: 0n }
      : { creditNanos: feeOf(listed, this.#fee), byokNanos: listed };
  }

  /** Output tokens that an amount pays for; -1 when it does not even pay for the prompt. */
  tokensWithin({ creditNanos, byokNanos }: Amount): number {
    if (this.#fee === undefined) return this.#countWithin(creditNanos);
    const listed = this.#countWithin(byokNanos);
    return this.#fee === 0 ? listed : Math.min(listed, this.#countWithin(listWithin(creditNanos, this.#fee)));
  }

  #countWithin(nanos: Nanos): number {
    return countWithin(nanos, this.#inputPrice, this.#outputPrice);
  }
}

function outputTokensOf({ endpoint }: Candidate, facts: CostFacts): number {
  const { maxOutputTokens, contextLength } = endpoint;
  const room = contextLength === undefined ? undefined : Math.max(1, contextLength - facts.promptTokens);
  const most = Math.min(
    facts.maxOutputTokens ?? Number.POSITIVE_INFINITY,
    maxOutputTokens ?? Number.POSITIVE_INFINITY,
    room ?? Number.POSITIVE_INFINITY,
  );
  return most === Number.POSITIVE_INFINITY ? USUAL_OUTPUT : most;
}

function inputPriceOf(pricing: Pricing, { promptTokens, inputImages }: CostFacts): Price {
  const { request = 0n, image = 0n } = pricing;
  const text = BigInt(promptTokens) * dearestInput(pricing) + request;
  return inputImages === 0 ? text : text + BigInt(inputImages) * image;
}

/** A prompt may be written to a cache, which costs more than to read it, and nobody knows before. */
function dearestInput({ prompt = 0n, input_cache_write = 0n }: Pricing): Price {
  return prompt > input_cache_write ? prompt : input_cache_write;
}

function dearestOutput({ completion = 0n, internal_reasoning = 0n, image_output = 0n }: Pricing): Price {
  const text = completion > internal_reasoning ? completion : internal_reasoning;
  return text > image_output ? text : image_output;
}

/** The list price whose fee is at most so much. */
function listWithin(feeNanos: Nanos, share: number): Nanos {
  const billionths = BigInt(Math.round(share * 1e9));
  return billionths === 0n ? feeNanos : (feeNanos * 1_000_000_000n) / billionths;
}
