import type { Endpoint } from '../../catalog/catalog.ts';
import { custodyOf } from '../conversation/custody.ts';
import { isWell } from '../health/endpoint-health.ts';
import { SHARED, siteOf } from '../rules/candidate.ts';
import type { EligibleModel } from './eligible-models.ts';
import type { RouterInput } from './router.ts';

/** Models that a router may choose, at least one, parted by who is turned to first. */
export interface CustodyPools<Eligible extends EligibleModel> {
  /** Best first, none empty. */
  readonly pools: readonly (readonly Eligible[])[];
  /** What is said of a choice from the first pool where custody made the difference; else nothing. */
  readonly merit: string;
}

const MERIT = ' able to take back the sealed reasoning of this conversation';

/**
 * Parts models by custody: those that get the sealed reasoning of the conversation back, and are well, come before all
 * others, whatever those cost or score. One pool where nothing is sealed, or where it makes no difference.
 */
export function custodyPools<Eligible extends EligibleModel>(
  eligible: readonly Eligible[],
  { request, context: { health } }: RouterInput,
): CustodyPools<Eligible> {
  const takesSealsBack = custodyOf(request);
  if (takesSealsBack === undefined) return { pools: [eligible], merit: '' };
  const keepsCustody = (endpoint: Endpoint) =>
    takesSealsBack(endpoint) && isWell(health.of(siteOf(endpoint, SHARED)));
  const keepers: Eligible[] = [];
  const others: Eligible[] = [];
  for (const each of eligible) (each.endpoints.some(keepsCustody) ? keepers : others).push(each);
  const pools = [keepers, others].filter(({ length }) => length > 0);
  return { pools, merit: pools.length > 1 ? MERIT : '' };
}
