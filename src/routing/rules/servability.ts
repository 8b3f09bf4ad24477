import type { Endpoint, Model } from '../../catalog/catalog.ts';
import { tierOf } from '../../catalog/service-tier.ts';
import type { ByokCredential } from '../../ports/tenancy/byok-credentials.ts';
import { accessesTo } from './access.ts';
import { type Filter, filtersOf, rejectingFilter } from './filters.ts';
import { hasFlex, isAdmitted } from './narrow-to-tier.ts';
import type { Needs } from './needs.ts';
import type { Preferences } from './preferences.ts';

/**
 * Returns the test whether an endpoint may serve a request. Collects no reasons, so that it is cheap for thousands of
 * endpoints. Ignores the requested output limit, which is a maximum that may be lowered.
 */
export function servability(
  needs: Needs,
  preferences: Preferences,
  byok: readonly ByokCredential[],
  callerRules: readonly Filter[],
): (endpoint: Endpoint, model: Model) => boolean {
  // Made on first use: only routers use this test.
  let filters: readonly Filter[] | undefined;
  const isOfTier = (endpoint: Endpoint, model: Model) =>
    isAdmitted(endpoint, preferences) &&
    (preferences.tier !== 'flex' || tierOf(endpoint) === 'flex' || !hasFlex(model, byok));
  return (endpoint, model) => {
    if (!isOfTier(endpoint, model)) return false;
    filters ??= filtersOf(preferences, { ...needs, minOutputTokens: 0 }, callerRules);
    for (const access of accessesTo(endpoint, model, byok)) {
      const subject = { model, endpoint, access, byok };
      if (rejectingFilter(filters, subject) === undefined) return true;
    }
    return false;
  };
}
