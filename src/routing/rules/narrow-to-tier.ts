import type { Endpoint } from '../../catalog/catalog.ts';
import type { Candidate } from '../candidate.ts';
import type { Preferences } from '../preferences.ts';
import { isNamedInFull } from './provider-names.ts';
import type { Rejections } from './rejections.ts';
import { tierOf } from './tiers.ts';

const FILTER = 'service_tier';

/**
 * The candidates of one model that the service tier leaves. Endpoints of a tier serve only on request; flex asks for
 * flex endpoints and nothing else, as long as there are any.
 */
export function narrowToTier(
  candidates: readonly Candidate[],
  preferences: Preferences,
  rejections: Rejections,
): readonly Candidate[] {
  const admitted = candidates.filter(({ endpoint }) => {
    if (isAdmitted(endpoint, preferences)) return true;
    rejections.add(endpoint, FILTER, `the ${tierOf(endpoint)} tier serves only on request`);
    return false;
  });
  const isFlex = ({ endpoint }: Candidate) => tierOf(endpoint) === 'flex';
  if (preferences.tier !== 'flex' || !admitted.some(isFlex)) return admitted;
  return admitted.filter((candidate) => {
    if (isFlex(candidate)) return true;
    rejections.add(candidate.endpoint, FILTER, 'the flex tier is asked for, and others of the model have it');
    return false;
  });
}

/** Whether an endpoint is of the standard tier, or of one that was asked for by name, suffix or full slug. */
export function isAdmitted(endpoint: Endpoint, preferences: Preferences): boolean {
  const tier = tierOf(endpoint);
  return (
    tier === undefined ||
    tier === preferences.tier ||
    preferences.admittedTiers.has(tier) ||
    isNamedInFull(preferences.order, endpoint) ||
    (preferences.only !== undefined && isNamedInFull(preferences.only, endpoint))
  );
}
