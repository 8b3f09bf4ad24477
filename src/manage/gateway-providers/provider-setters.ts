import type { LoadedConfiguration } from '../../config/load.ts';
import type { ProviderSetter } from '../../contract/gateway/gateway-provider.ts';

/** What sets each provider of a configuration, by slug: its file, or a variable of the environment alone. */
export function providerSetters({
  config,
  providerKeys,
}: Pick<LoadedConfiguration, 'config' | 'providerKeys'>): ReadonlyMap<string, ProviderSetter> {
  const switchedOn = new Set(providerKeys.filter(({ switchesOn }) => switchesOn).map(({ slug }) => slug));
  return new Map(
    config.providers.map(({ slug }) => [slug, switchedOn.has(slug) ? 'environment' : 'file'] as const),
  );
}
