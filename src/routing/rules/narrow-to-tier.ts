import type { Endpoint, Model } from '../../catalog/catalog.ts';
import { tierOf } from '../../catalog/service-tier.ts';
import type { ByokCredential } from '../../ports/tenancy/byok-credentials.ts';
import { isOpenTo } from './access.ts';
import type { Candidate } from './candidate.ts';
import type { Preferences } from './preferences.ts';
import { isNamedInFull } from './provider-names.ts';
import type { Rejections } from './rejections.ts';

const FILTER = 'service_tier';

export interface TierRule {
  readonly preferences: Preferences;
  /** Only endpoints of the flex tier may serve. */
  readonly isFlexOnly: boolean;
}

/** Rejects candidates of a model by service tier: endpoints of a tier serve only on request. */
export function narrowToTier(
  candidates: readonly Candidate[],
  { preferences, isFlexOnly }: TierRule,
  rejections: Rejections,
): readonly Candidate[] {
  if (!isFlexOnly && candidates.every(isOfStandardTier)) return candidates;
  return candidates.filter(({ endpoint }) => {
    if (!isAdmitted(endpoint, preferences)) {
      rejections.add(endpoint, FILTER, `the ${tierOf(endpoint)} tier serves only on request`);
      return false;
    }
    if (!isFlexOnly || tierOf(endpoint) === 'flex') return true;
    rejections.add(endpoint, FILTER, 'the flex tier is asked for, and others of the model have it');
    return false;
  });
}

function isOfStandardTier({ endpoint }: Candidate): boolean {
  return tierOf(endpoint) === undefined;
}

/**
 * True if a model has flex endpoints. A request for flex is then served by those only, even if another rule rejects all
 * of them: the standard tier costs more.
 */
export function hasFlex(model: Model, byok: readonly ByokCredential[]): boolean {
  return model.endpoints.some((endpoint) => tierOf(endpoint) === 'flex' && isOpenTo(endpoint, model, byok));
}

/** True if an endpoint is of the standard tier, or of one requested by name, suffix or full slug. */
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
