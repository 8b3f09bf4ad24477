import type { Endpoint, Model } from '../../catalog/catalog.ts';
import { tierOf } from '../../catalog/endpoint-tier.ts';
import type { OwnCredential } from '../../ports/own-credentials.ts';
import { accessesTo } from './access.ts';
import { type Filter, filtersOf, rejectingFilter } from './filters.ts';
import { hasFlex, isAdmitted } from './narrow-to-tier.ts';
import type { Needs } from './needs.ts';
import type { Preferences } from './preferences.ts';

/**
 * Tells of any endpoint whether it may serve a request. Without reasons, so that thousands can be asked. The output
 * that is asked for is left out of it: it is a maximum, which may be lowered.
 */
export function servability(
  needs: Needs,
  preferences: Preferences,
  own: readonly OwnCredential[],
): (endpoint: Endpoint, model: Model) => boolean {
  // Only routers ask, so the rules are made for the first endpoint that is asked about.
  let filters: readonly Filter[] | undefined;
  const isOfTier = (endpoint: Endpoint, model: Model) =>
    isAdmitted(endpoint, preferences) &&
    (preferences.tier !== 'flex' || tierOf(endpoint) === 'flex' || !hasFlex(model, own));
  return (endpoint, model) => {
    if (!isOfTier(endpoint, model)) return false;
    filters ??= filtersOf(preferences, { ...needs, leastOutput: 0 });
    for (const access of accessesTo(endpoint, model, own)) {
      const subject = { model, endpoint, access, own };
      if (rejectingFilter(filters, subject) === undefined) return true;
    }
    return false;
  };
}
