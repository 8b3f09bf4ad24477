import type { Provider } from '../../catalog/catalog.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { retainsNothing } from './data-policy.ts';
import { preferencesOf } from './preferences.ts';
import { isProviderNamedIn } from './provider-names.ts';

/**
 * Why the `provider` preferences of a request keep its texts from a provider that serves a plugin; undefined = they do
 * not. What they say of prices and order is about endpoints of models.
 */
export function wishAgainst(request: GenerationRequest, provider: Provider): string | undefined {
  const { only, ignore, requiresZeroRetention, deniesDataCollection } = preferencesOf(request);
  if (only !== undefined && !isProviderNamedIn(only, provider)) return 'is not in provider.only';
  if (isProviderNamedIn(ignore, provider)) return 'is in provider.ignore';
  if (retainsNothing({ provider })) return undefined;
  if (requiresZeroRetention) return 'is not known to retain nothing, which provider.zdr demands';
  return deniesDataCollection
    ? 'may train on or retain texts, which provider.data_collection forbids'
    : undefined;
}
