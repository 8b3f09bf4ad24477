import type { Pricing } from '../../catalog/catalog.ts';
import { pricesOf } from '../../catalog/prices/answer-price.ts';
import { searchNanos } from '../../catalog/prices/bill.ts';
import { cacheDiscount } from '../../catalog/prices/cache-discount.ts';
import { pricesIn, type ToolUnits } from '../../ir/hosted-use.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Usage } from '../../ir/usage.ts';
import type { GenerationRow } from '../../ports/generations/generation-row.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { toolsAskedBy, unknownTools } from '../admission/tools-asked.ts';
import type { UsedSoFar } from '../leg/leg-account.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import type { AttemptLog } from './attempt-log.ts';
import type { Settlement } from './settle.ts';

export function listPriceOf({ bill }: UsedSoFar): string {
  return String(bill.inputNanos + bill.outputNanos);
}

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

/** What the upstreams' own tools did, by price, and what of it had no price. */
export function toolUse(
  { legs, selected }: AttemptLog,
  request: GenerationRequest,
  { usage }: Settlement,
): Pick<GenerationRow, 'hosted_tools' | 'unpriced'> {
  const unknown = selected === undefined ? [] : unknownTools(toolsAskedBy(request)(selected.endpoint));
  const { webSearchRequests, hosted } = usage;
  if (webSearchRequests === 0 && hosted === undefined && unknown.length === 0) return {};
  const used: Record<string, number> = {};
  const unpriced: Record<string, number> = Object.fromEntries(unknown.map((kind) => [kind, 1]));
  for (const { end, selected: served } of legs) {
    if (end === undefined || served === undefined) continue;
    const { webSearchRequests: searches, hosted: others } = end.usage;
    const units: ToolUnits = { ...others, ...(searches > 0 && { web_search: searches }) };
    const prices = pricingOf(served, end.pricedAtMs, end.serviceTier, end.usage);
    for (const name of pricesIn(units)) {
      const count = units[name] ?? 0;
      used[name] = (used[name] ?? 0) + count;
      if (prices[name] === undefined) unpriced[name] = (unpriced[name] ?? 0) + count;
    }
  }
  return {
    ...(Object.keys(used).length > 0 && { hosted_tools: used }),
    ...(Object.keys(unpriced).length > 0 && { unpriced }),
  };
}
