import type { Pricing } from '../../catalog/catalog.ts';
import { pricesOf } from '../../catalog/prices/answer-price.ts';
import { searchNanos } from '../../catalog/prices/bill.ts';
import { cacheDiscount } from '../../catalog/prices/cache-discount.ts';
import type { Usage } from '../../ir/usage.ts';
import type { GenerationRow } from '../../ports/generation-row.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import type { UsedSoFar } from '../leg/leg-account.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import type { AttemptLog } from './attempt-log.ts';
import type { Settlement } from './settle.ts';

/** List price of the usage. */
export function listPriceOf({ bill }: UsedSoFar): string {
  return String(bill.inputNanos + bill.outputNanos);
}

/** What caching saved, and what searches cost. */
export function savingsAndSearches(
  attemptLog: AttemptLog,
  input: GenerationInput,
  settlement: Settlement,
): Pick<GenerationRow, 'cache_discount_nanos' | 'web_search_nanos'> {
  const { bill } = settlement;
  const isFree = bill.inputNanos + bill.outputNanos === 0n;
  const priced = isFree ? [] : pricedLegs(attemptLog, input, settlement);
  const ofLegs = sumOf(priced, ({ usage, pricing }) => searchNanos(usage.webSearchRequests, pricing));
  const ofCharges = sumOf(attemptLog.charges, ({ kind, nanos }) => (kind === 'web_search' ? nanos : 0n));
  return {
    cache_discount_nanos: String(sumOf(priced, ({ usage, pricing }) => cacheDiscount(usage, pricing))),
    web_search_nanos: String(ofLegs + ofCharges),
  };
}

/** Usage of a leg, and the prices of its bill. */
interface PricedLeg {
  readonly usage: Usage;
  readonly pricing: Pricing;
}

function pricedLegs(
  { legs, selected }: AttemptLog,
  input: GenerationInput,
  { result, usage }: Settlement,
): PricedLeg[] {
  if (legs.length === 1) {
    return [{ usage, pricing: pricingOf(selected, input.acceptedAtMs, result.finish?.serviceTier, usage) }];
  }
  return legs.flatMap(({ end, selected: served }) =>
    end === undefined || end.bill.inputNanos + end.bill.outputNanos === 0n
      ? []
      : [{ usage: end.usage, pricing: pricingOf(served, end.pricedAtMs, end.serviceTier, end.usage) }],
  );
}

function sumOf<T>(list: readonly T[], of: (each: T) => bigint): bigint {
  return list.reduce((sum, each) => sum + of(each), 0n);
}

function pricingOf(
  selected: Candidate | undefined,
  atMs: number,
  servedTier: string | undefined,
  usage: Usage,
): Pricing {
  if (selected === undefined) return {};
  const { endpoint, model } = selected;
  return pricesOf({ endpoint, model, atMs, usage, servedTier });
}
