import type { DialectWord, ProviderEntry } from '../../catalog/entries.ts';
import type { AddedProvider } from '../../catalog/model-entries.ts';
import type { StoredModel, StoredProvider } from '../../ports/tenancy/gateway-providers.ts';

/** The members of a provider that decide where and how it is called. */
export type ProviderPlace = Pick<StoredProvider, 'slug' | 'name' | 'dialect' | 'baseUrl'>;

/** A provider as a configuration names it. `key`: in clear; null = it has none. */
export function providerEntryOf({ slug, name, dialect, baseUrl }: ProviderPlace, key: string | null) {
  return {
    slug,
    ...(name !== null && { name }),
    // It was checked when it was stored.
    ...(dialect !== null && { dialect: dialect as DialectWord }),
    ...(baseUrl !== null && { base_url: baseUrl }),
    ...(key !== null && { api_key: key }),
  } satisfies ProviderEntry;
}

/** A stored provider with its models as a configuration names them. `key`: in clear; null = it has none. */
export function storedEntryOf(stored: StoredProvider, key: string | null): AddedProvider {
  const { slug, models, workspaceIds } = stored;
  return {
    provider: {
      ...providerEntryOf(stored, key),
      ...(workspaceIds !== null && { workspaces: workspaceIds }),
    },
    models: models.map((model) => ({
      id: model.id,
      ...(model.name !== null && { name: model.name }),
      ...(model.contextLength !== null && { context_length: model.contextLength }),
      endpoints: [endpointOf(slug, model)],
    })),
  };
}

function endpointOf(provider: string, { model, contextLength, promptPrice, completionPrice }: StoredModel) {
  return {
    provider,
    model,
    ...(contextLength !== null && { context_length: contextLength }),
    pricing: { prompt: promptPrice, completion: completionPrice },
  };
}
