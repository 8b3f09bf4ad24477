import type { Endpoint } from '../../catalog/catalog.ts';
import { custodyOf } from '../conversation/custody.ts';
import { isHealthy } from '../health/endpoint-health.ts';
import { SHARED, siteOf } from '../rules/candidate.ts';
import type { EligibleModel } from './eligible-models.ts';
import type { RouterInput } from './router.ts';

/** Models that a router may choose, split by custody. */
export interface CustodyPools<Eligible extends EligibleModel> {
  /** Best first, none empty. */
  readonly pools: readonly (readonly Eligible[])[];
  /** Appended to the summary of a choice if custody made a difference; else empty. */
  readonly note: string;
}

const NOTE = ' able to take back the sealed reasoning of this conversation';

/**
 * Splits models by custody: models with a healthy endpoint that accepts the sealed reasoning of the conversation come
 * before all others, whatever those cost or score. One pool if nothing is sealed or all models are alike.
 */
export function custodyPools<Eligible extends EligibleModel>(
  eligible: readonly Eligible[],
  { request, context: { health } }: RouterInput,
): CustodyPools<Eligible> {
  const takesSealsBack = custodyOf(request);
  if (takesSealsBack === undefined) return { pools: [eligible], note: '' };
  const keepsCustody = (endpoint: Endpoint) =>
    takesSealsBack(endpoint) && isHealthy(health.of(siteOf(endpoint, SHARED)));
  const keepers: Eligible[] = [];
  const others: Eligible[] = [];
  for (const each of eligible) (each.endpoints.some(keepsCustody) ? keepers : others).push(each);
  const pools = [keepers, others].filter(({ length }) => length > 0);
  return { pools, note: pools.length > 1 ? NOTE : '' };
}
