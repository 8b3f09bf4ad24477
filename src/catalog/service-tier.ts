import type { Endpoint, Model } from './catalog.ts';

export type Tier = 'flex' | 'priority' | 'ultrafast';

const ENDINGS: readonly { readonly ending: string; readonly tier: Tier }[] = [
  { ending: '/flex', tier: 'flex' },
  { ending: '/priority', tier: 'priority' },
  { ending: '/ultrafast', tier: 'ultrafast' },
];

/** The tier of an endpoint, by the end of its tag; undefined = standard. */
export function tierOf({ tag }: Pick<Endpoint, 'tag'>): Tier | undefined {
  for (const { ending, tier } of ENDINGS) if (tag.endsWith(ending)) return tier;
  return undefined;
}

/** Names of the standard tier in answers of upstreams. */
const STANDARD: ReadonlySet<string> = new Set(['default', 'standard', 'auto']);

/**
 * The endpoint whose prices apply to an answer: that of the tier the upstream reports, if the provider has one for this
 * model; else the called one.
 */
export function servedEndpoint(called: Endpoint, { endpoints }: Model, served: string | undefined): Endpoint {
  if (served === undefined) return called;
  const tier = STANDARD.has(served) ? undefined : served;
  if (tierOf(called) === tier) return called;
  return endpoints.find((endpoint) => isTierOf(called, endpoint) && tierOf(endpoint) === tier) ?? called;
}

/** All endpoints whose prices may apply to an answer: the called one and its other tiers. */
export function mayBeServedBy(called: Endpoint, { endpoints }: Model): readonly Endpoint[] {
  const others = endpoints.filter(
    (endpoint) => isTierOf(called, endpoint) && tierOf(endpoint) !== tierOf(called),
  );
  return [called, ...others];
}

/** True if two endpoints are the same upstream model at the same provider, in any tier. */
function isTierOf(called: Endpoint, endpoint: Endpoint): boolean {
  return endpoint.provider === called.provider && endpoint.upstreamModel === called.upstreamModel;
}
