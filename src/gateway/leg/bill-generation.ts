import { billOf, FREE, feeOnly } from '../../catalog/prices/bill.ts';
import { pricingAt } from '../../catalog/prices/price-history.ts';
import { servedEndpoint } from '../../catalog/service-tier.ts';
import type { Amount } from '../../ir/amount.ts';
import type { Bill, Usage } from '../../ir/usage.ts';
import { chargeOf } from '../../kit/money.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';

/** What a generation is billed by besides its usage. */
export interface BillingFacts {
  /** When the request came in, epoch milliseconds: its prices are those of this moment. */
  readonly acceptedAtMs: number;
  /** Images of the prompt. */
  readonly inputImages: number;
  /** Share of the list price that is charged if a BYOK credential was used. */
  readonly byokFee: number;
}

/** Prices what a candidate used. `servedTier`: the tier that its upstream says it served. */
export function billGeneration(
  selected: Candidate | undefined,
  usage: Usage,
  { acceptedAtMs, inputImages, byokFee }: BillingFacts,
  servedTier?: string,
): Bill {
  if (selected === undefined) return FREE;
  const priced = servedEndpoint(selected.endpoint, selected.model, servedTier);
  const listed = billOf({ usage, inputImages }, pricingAt(priced, acceptedAtMs, usage.inputTokens));
  return selected.access.kind === 'byok' ? feeOnly(listed, byokFee) : listed;
}

/** Prices the searches of a candidate whose answer costs nothing else. */
export function billSearches(
  selected: Candidate | undefined,
  searches: number,
  { acceptedAtMs, byokFee }: BillingFacts,
): Bill {
  if (selected === undefined || searches === 0) return FREE;
  const { web_search = 0n } = pricingAt(selected.endpoint, acceptedAtMs);
  const outputNanos = chargeOf([[searches, web_search]]);
  const listed = { totalNanos: outputNanos, inputNanos: 0n, outputNanos, isByok: false };
  return selected.access.kind === 'byok' ? feeOnly(listed, byokFee) : listed;
}

/** A bill as the ledger counts it. */
export function amountOf({ totalNanos, inputNanos, outputNanos, isByok }: Bill): Amount {
  return { creditNanos: totalNanos, byokNanos: isByok ? inputNanos + outputNanos : 0n };
}
