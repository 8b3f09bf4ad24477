import type { ProviderEntry } from '../../catalog/entries.ts';
import { KNOWN_PROVIDERS } from '../../catalog/providers/known-providers.ts';
import { hasCredential, switchingVariables } from '../../catalog/providers/missing-credential.ts';
import { listModelStep } from '../../catalog/providers/own-address.ts';
import { SIMULATOR_PROVIDER } from '../../catalog/simulator-catalog.ts';
import type { ProviderConfig } from '../../config/parse/known-providers.ts';

export type ConfiguredProviders = ReadonlyMap<string, ProviderEntry>;

/**
 * The missing step before the gateway calls an endpoint at a provider; undefined if nothing is missing. `isOwn`: the
 * endpoint is in the configuration file. Names variables, never values.
 */
export function providerNeeds(
  slug: string,
  providers: ConfiguredProviders,
  isOwn: boolean,
): string | undefined {
  const entry = providers.get(slug);
  if (entry === undefined) return unlistedNeeds(slug, isOwn);
  const [problem] = KNOWN_PROVIDERS.issuesOf(entry as ProviderConfig);
  if (problem !== undefined) return `give ${slug} ${aWord(problem.path)} in the configuration`;
  const isElsewhere = (entry.base_url || entry.dialect) && slug !== SIMULATOR_PROVIDER.slug;
  if (isElsewhere && !isOwn) return listModelStep(slug);
  if (hasCredential(entry)) return undefined;
  return entry.base_url ? `give ${slug} an api_key in the configuration` : credentialNeeds(slug);
}

/** An endpoint of the file may name a provider of the table that needs no key. */
function unlistedNeeds(slug: string, isOwn: boolean): string | undefined {
  return isOwn && KNOWN_PROVIDERS.has(slug) && hasCredential({ slug }) ? undefined : credentialNeeds(slug);
}

function credentialNeeds(slug: string): string {
  const variables = switchingVariables(slug);
  return variables === undefined
    ? `list ${slug} in providers of the configuration`
    : `set ${variables.join(' and ')}`;
}

function aWord(word: string): string {
  return /^[aeiou]/.test(word) ? `an ${word}` : `a ${word}`;
}
