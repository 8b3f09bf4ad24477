import { buildProvider } from '../../catalog/build-provider.ts';
import { KNOWN_PROVIDERS } from '../../catalog/providers/known-providers.ts';
import { isAuthorized } from '../../catalog/providers/missing-credential.ts';
import { rowOf } from '../../catalog/providers/provider-rows.ts';
import { SIMULATOR_PROVIDER } from '../../catalog/simulator-catalog.ts';
import { virtualIdProblem } from '../../catalog/virtual-ids.ts';
import { addressChecks } from '../../config/parse/cross-checks.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { nearestWord } from '../../kit/text/nearest-word.ts';
import type { StoredModel } from '../../ports/tenancy/gateway-providers.ts';
import { type ProviderPlace, providerEntryOf } from './stored-entry.ts';

/** Problems of where and how a provider is called, by the members of the API. `key`: in clear; null = it has none. */
export function providerIssues(place: ProviderPlace, key: string | null): Issue[] {
  const { slug, dialect, baseUrl } = place;
  if (slug === SIMULATOR_PROVIDER.slug) {
    return [{ path: 'slug', message: 'is built in: list it in the configuration file to switch it on' }];
  }
  const entry = providerEntryOf(place, key);
  const issues = KNOWN_PROVIDERS.issuesOf(entry).map(({ path, message }) => ({
    path: path === 'api_key' ? 'key' : path,
    message,
  }));
  const misspelt = issues.length > 1 && rowOf(slug) === undefined ? misspeltIssue(slug) : undefined;
  if (misspelt !== undefined) return [misspelt];
  for (const { message } of addressChecks(baseUrl, dialect, 'base_url')) {
    issues.push({ path: 'base_url', message });
  }
  if (issues.length > 0) return issues;
  const provider = buildProvider(entry);
  if (baseUrl !== null || isAuthorized(provider)) return [];
  return [{ path: 'key', message: `is required: ${provider.name} answers no call without one` }];
}

/** The two members that an unknown slug lacks may be one mistake. */
function misspeltIssue(slug: string): Issue | undefined {
  const meant = nearestWord(slug, KNOWN_PROVIDERS.slugs);
  if (meant === undefined) return undefined;
  return {
    path: 'slug',
    message: `is not a provider that the gateway knows. Did you mean ${meant}? A server of your own needs dialect and base_url`,
  };
}

/** Problems of ids that stand for two models of one provider, or for something that is no model. */
export function modelIssues(models: readonly Pick<StoredModel, 'id'>[], vendor: string | undefined): Issue[] {
  const firstAt = new Map<string, number>();
  return models.flatMap(({ id }, index): Issue[] => {
    const path = `models[${index}].id`;
    const first = firstAt.get(id);
    if (first !== undefined) return [{ path, message: `is that of models[${first}] too: ${id}` }];
    firstAt.set(id, index);
    const message = virtualIdProblem(id, vendor);
    return message === undefined ? [] : [{ path, message }];
  });
}
