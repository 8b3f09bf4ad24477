import { tagOf } from '../../catalog/build-model.ts';
import type { EndpointEntry, ModelEntry, ProviderEntry } from '../../catalog/entries.ts';
import type { StoredEntry } from './stored-entry.ts';

/** The part of a configuration that the catalogue is made of. */
interface Configured {
  readonly providers: readonly ProviderEntry[];
  readonly models: readonly ModelEntry[];
}

/**
 * Adds stored providers to those of the configuration, which win: a stored one with the slug of one of them is left
 * out. A model in both has the endpoints of both, those of the configuration first.
 */
export function withStoredProviders<C extends Configured>(config: C, stored: readonly StoredEntry[]): C {
  if (stored.length === 0) return config;
  const configured = new Set(config.providers.map(({ slug }) => slug));
  const added = stored.filter(({ provider }) => !configured.has(provider.slug));
  const models = new Map<string, ModelEntry>(config.models.map((model) => [model.id, model]));
  for (const model of added.flatMap((entry) => entry.models)) {
    const known = models.get(model.id);
    models.set(model.id, known === undefined ? model : { ...known, endpoints: endpointsOf(known, model) });
  }
  return {
    ...config,
    providers: [...config.providers, ...added.map(({ provider }) => provider)],
    models: [...models.values()],
  };
}

function endpointsOf(known: ModelEntry, added: ModelEntry): EndpointEntry[] {
  const own = known.endpoints ?? [];
  const tags = new Set(own.map(tagOf));
  return [...own, ...(added.endpoints ?? []).filter((endpoint) => !tags.has(tagOf(endpoint)))];
}
