import type { Catalog } from '../../catalog/catalog.ts';
import { priceOfAnswer, priceOfTools } from '../../catalog/prices/answer-price.ts';
import { FREE, type ToolsUsed } from '../../catalog/prices/bill.ts';
import type { Amount } from '../../ir/amount.ts';
import { type Bill, plusBill, type Usage } from '../../ir/usage.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';

export interface BillingFacts {
  /** Arrival of the request, epoch milliseconds: its prices are those of this moment. */
  readonly acceptedAtMs: number;
  readonly inputImages: number;
  /** Has the prices of models that an upstream asks by itself. */
  readonly catalog: Pick<Catalog, 'models'>;
  /** Share of the list price that is charged if a BYOK credential was used. */
  readonly byokFee: number;
}

/**
 * Prices the usage of a candidate: what another model of its upstream did at that model's prices, or at those of the
 * candidate if they are not known. `servedTier`: the service tier that its upstream reports.
 */
export function billGeneration(
  selected: Candidate | undefined,
  usage: Usage,
  facts: BillingFacts,
  servedTier?: string,
): Bill {
  if (selected === undefined) return FREE;
  const { atMs, feeShare } = termsOf(selected, facts);
  const priced = (upstreamModel: string | undefined, used: Usage, inputImages: number, tier?: string) => {
    const other = upstreamModel === undefined ? undefined : otherEndpoint(selected, upstreamModel, facts);
    const { endpoint, model } = other ?? selected;
    return priceOfAnswer({ endpoint, model, atMs, feeShare, usage: used, inputImages, servedTier: tier });
  };
  const bill = priced(usage.servedModel, usage, facts.inputImages, servedTier);
  if (usage.others === undefined) return bill;
  return usage.others.reduce((sum, other) => plusBill(sum, priced(other.model, other.usage, 0)), bill);
}

/** False if a model that the upstream asked by itself has no known price, so that the bill is an estimate. */
export function hasKnownPrices(
  selected: Candidate | undefined,
  { servedModel, others = [] }: Usage,
  facts: BillingFacts,
): boolean {
  if (selected === undefined) return true;
  const models = [...(servedModel === undefined ? [] : [servedModel]), ...others.map(({ model }) => model)];
  return models.every((model) => otherEndpoint(selected, model, facts) !== undefined);
}

/** The endpoint of the same provider for a model by the upstream's name, with or without the date of its version. */
function otherEndpoint(
  { endpoint: { provider } }: Candidate,
  upstreamModel: string,
  { catalog }: BillingFacts,
): Pick<Candidate, 'endpoint' | 'model'> | undefined {
  const name = withoutDate(upstreamModel);
  for (const model of catalog.models) {
    const endpoint = model.endpoints.find(
      (each) => each.provider.slug === provider.slug && withoutDate(each.upstreamModel) === name,
    );
    if (endpoint !== undefined) return { endpoint, model };
  }
  return undefined;
}

function withoutDate(name: string): string {
  return name.replace(/-20\d{6}$/, '');
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
