import type { Endpoint, Model } from '../../catalog/catalog.ts';
import type { OwnCredential } from '../../ports/own-credentials.ts';
import type { Preferences } from '../preferences.ts';
import { accessesTo } from './access.ts';
import { filtersOf } from './filters.ts';
import { isAdmitted } from './narrow-to-tier.ts';
import type { Needs } from './needs.ts';

/**
 * Tells of any endpoint whether it may serve a request. Without reasons, so that thousands can be asked. The output that
 * is asked for is left out of it: it is a maximum, which may be lowered.
 */
export function servability(
  needs: Needs,
  preferences: Preferences,
  own: readonly OwnCredential[],
): (endpoint: Endpoint, model: Model) => boolean {
  const filters = filtersOf(preferences, { ...needs, leastOutput: 0 });
  return (endpoint, model) =>
    isAdmitted(endpoint, preferences) &&
    accessesTo(endpoint, model, own).some((access) => {
      const subject = { model, endpoint, access, own };
      return !filters.some((filter) => filter.rejects(subject));
    });
}
