import type { Endpoint, Model } from './catalog.ts';
import { tierOf } from './endpoint-tier.ts';

/** Words for the standard tier. */
const STANDARD: ReadonlySet<string> = new Set(['default', 'standard', 'auto']);

/**
 * The endpoint whose prices hold for an answer: the one of the tier that the upstream says it served, where the same
 * provider has one for the same model; else the one that was called.
 */
export function servedEndpoint(called: Endpoint, { endpoints }: Model, served: string | undefined): Endpoint {
  if (served === undefined) return called;
  const tier = STANDARD.has(served) ? undefined : served;
  if (tierOf(called) === tier) return called;
  const isSibling = (endpoint: Endpoint) =>
    endpoint.provider === called.provider &&
    endpoint.upstreamModel === called.upstreamModel &&
    tierOf(endpoint) === tier;
  return endpoints.find(isSibling) ?? called;
}
