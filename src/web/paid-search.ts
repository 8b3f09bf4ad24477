import type { Endpoint } from '../catalog/catalog.ts';
import { searchNanos } from '../catalog/prices/bill.ts';
import { pricingAt } from '../catalog/prices/price-history.ts';
import type { SearchEngineName } from '../config/schema/search-engines.ts';
import { GatewayError } from '../ir/errors.ts';
import type { ChargeKind, PaidCharge } from '../ir/leg.ts';
import type { Nanos } from '../kit/money.ts';
import type { Egress } from '../net/egress/egress.ts';
import type { FoundPage } from './engines/engine.ts';
import { ENGINES } from './engines/engine-table.ts';
import { priceOf, SearchProblem, type SearchWish, search } from './search.ts';
import type { EngineSettings, WebSettings } from './web-settings.ts';

export interface SearchContext {
  readonly settings: { readonly web: WebSettings };
  readonly signal: AbortSignal;
  now(): number;
  /** Undefined = the limits are too low. */
  charge(kind: ChargeKind, nanos: Nanos): Promise<PaidCharge | undefined>;
}

export interface PaidSearch {
  readonly engine: SearchEngineName;
  /** The endpoint whose price the search has if the engine has none; undefined = there is no endpoint. */
  readonly endpoint: Endpoint | undefined;
  readonly egress: Egress;
  /** Characters of all results; absent = the operator's limit. */
  readonly maxCharacters?: number | undefined;
}

/**
 * Pays for a search by the price of the engine, else of the endpoint, and searches. It costs nothing only if the
 * engine certainly did not search: it was not reached, or refused. Rejects with a SearchProblem, the signal's reason,
 * or an error if the limits do not leave so much.
 */
export async function paidSearch(
  wish: SearchWish,
  { engine, endpoint, egress, maxCharacters }: PaidSearch,
  { settings: { web }, signal, now, charge }: SearchContext,
): Promise<{ readonly pages: readonly FoundPage[]; readonly nanos: Nanos }> {
  const { limits, engines } = web;
  const own = engines.get(engine) ?? UNCONFIGURED;
  const nanos =
    own.price === undefined ? priceAt(endpoint, now()) : priceOf(own.price, wish, ENGINES[engine], own);
  const paid = nanos === 0n ? undefined : await charge('web_search', nanos);
  if (nanos > 0n && paid === undefined) {
    throw new GatewayError('payment', 'What is left of the limits does not pay for the web search');
  }
  if (signal.aborted) {
    // The caller has left before the engine was called.
    await paid?.waive();
    throw signal.reason;
  }
  const resultCharacters = Math.min(maxCharacters ?? Number.POSITIVE_INFINITY, limits.resultCharacters);
  try {
    const pages = await search(wish, {
      engine: ENGINES[engine],
      settings: own,
      limits: { ...limits, resultCharacters },
      egress,
      signal,
    });
    return { pages, nanos };
  } catch (problem) {
    // A caller who leaves has had the engine search: that stays paid.
    if (problem instanceof SearchProblem) {
      if (problem.mayBeBilled) problem.nanos = nanos;
      else await paid?.waive();
    }
    throw problem;
  }
}

const UNCONFIGURED: EngineSettings = { apiKey: undefined, url: undefined, price: undefined, modes: [] };

function priceAt(endpoint: Endpoint | undefined, nowMs: number): Nanos {
  return endpoint === undefined ? 0n : searchNanos(1, pricingAt(endpoint, nowMs));
}
