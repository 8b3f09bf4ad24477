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
  return endpoints.find((endpoint) => isTierOf(called, endpoint) && tierOf(endpoint) === tier) ?? called;
}

/** All endpoints whose prices may hold for an answer of the called one: itself, and the other tiers of the same. */
export function mayBeServedBy(called: Endpoint, { endpoints }: Model): readonly Endpoint[] {
  const others = endpoints.filter(
    (endpoint) => isTierOf(called, endpoint) && tierOf(endpoint) !== tierOf(called),
  );
  return [called, ...others];
}

/** Whether two endpoints are one upstream model at one provider, in the same or another tier. */
function isTierOf(called: Endpoint, endpoint: Endpoint): boolean {
  return endpoint.provider === called.provider && endpoint.upstreamModel === called.upstreamModel;
}
