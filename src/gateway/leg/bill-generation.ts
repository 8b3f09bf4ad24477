import { priceOfAnswer, priceOfTools } from '../../catalog/prices/answer-price.ts';
import { FREE, type ToolsUsed } from '../../catalog/prices/bill.ts';
import type { Amount } from '../../ir/amount.ts';
import type { Bill, Usage } from '../../ir/usage.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';

/** Quantities of a bill besides the usage. */
export interface BillingFacts {
  /** Arrival of the request, epoch milliseconds: its prices are those of this moment. */
  readonly acceptedAtMs: number;
  /** Images in the prompt. */
  readonly inputImages: number;
  /** Share of the list price that is charged if a BYOK credential was used. */
  readonly byokFee: number;
}

/** Prices the usage of a candidate. `servedTier`: the service tier that its upstream reports. */
export function billGeneration(
  selected: Candidate | undefined,
  usage: Usage,
  facts: BillingFacts,
  servedTier?: string,
): Bill {
  if (selected === undefined) return FREE;
  const { inputImages } = facts;
  return priceOfAnswer({ ...termsOf(selected, facts), usage, inputImages, servedTier });
}

/** Prices the tools that a candidate ran, if its answer is otherwise free. */
export function billTools(selected: Candidate | undefined, used: ToolsUsed, facts: BillingFacts): Bill {
  if (selected === undefined || (used.webSearchRequests === 0 && used.hosted === undefined)) return FREE;
  return priceOfTools(used, termsOf(selected, facts));
}

function termsOf({ endpoint, model, access }: Candidate, { acceptedAtMs, byokFee }: BillingFacts) {
  const feeShare = access.kind === 'byok' ? byokFee : undefined;
  return { endpoint, model, atMs: acceptedAtMs, feeShare };
}

/** A bill as the ledger counts it. */
export function amountOf({ totalNanos, inputNanos, outputNanos, isByok }: Bill): Amount {
  return { creditNanos: totalNanos, byokNanos: isByok ? inputNanos + outputNanos : 0n };
}
