import type { Bill, Usage } from '../../ir/usage.ts';
import type { Endpoint, Model, Pricing } from '../catalog.ts';
import { servedEndpoint } from '../service-tier.ts';
import { billOf, feeOnly, type ToolsUsed, toolNanos } from './bill.ts';
import { pricingAt } from './price-history.ts';

export interface AnswerTerms {
  readonly endpoint: Endpoint;
  readonly model: Model;
  /** When the request came in, epoch milliseconds. */
  readonly atMs: number;
  readonly usage: Usage;
  /** Tier that the upstream says it served; absent = that of the endpoint. */
  readonly servedTier?: string | undefined;
}

export interface PricedAnswer extends AnswerTerms {
  /** Images of the prompt, which upstreams do not report. */
  readonly inputImages: number;
  /** Share of the list price that is charged for a call with a BYOK credential; absent = the list price. */
  readonly feeShare?: number | undefined;
}

/**
 * The price of an answer, by its usage. Used by `billGeneration`, for what a leg has cost by now, in the end, and
 * beyond what is charged, and by `explain`, for the most that a request could cost at its first candidate.
 * Reservations are sized by `WorstCost`, which bounds this price from above.
 */
export function priceOfAnswer(answer: PricedAnswer): Bill {
  return charged(billOf(answer, pricesOf(answer)), answer.feeShare);
}

/**
 * The prices that apply to an answer: those of its time, of the tier that served it and of the length of its prompt.
 */
export function pricesOf({ endpoint, model, atMs, usage, servedTier }: AnswerTerms): Pricing {
  return pricingAt(servedEndpoint(endpoint, model, servedTier), atMs, usage.inputTokens);
}

export function priceOfTools(
  used: ToolsUsed,
  { endpoint, atMs, feeShare }: Pick<PricedAnswer, 'endpoint' | 'atMs' | 'feeShare'>,
): Bill {
  const outputNanos = toolNanos(used, pricingAt(endpoint, atMs));
  return charged({ totalNanos: outputNanos, inputNanos: 0n, outputNanos, isByok: false }, feeShare);
}

function charged(listed: Bill, feeShare: number | undefined): Bill {
  return feeShare === undefined ? listed : feeOnly(listed, feeShare);
}
