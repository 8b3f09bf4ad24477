import { describe, expect, it } from 'vitest';
import type { ModelEntry, ProviderEntry } from '../../catalog/entries.ts';
import type { StoredEntry } from './stored-entry.ts';
import { withStoredProviders } from './with-stored-providers.ts';

const entry = (slug: string, ...ids: string[]): StoredEntry => ({
  provider: { slug, api_key: 'stored' },
  models: ids.map((id) => ({ id, name: 'stored', endpoints: [{ provider: slug, model: `${slug}-${id}` }] })),
});

describe('withStoredProviders', () => {
  const config: { byok: string; providers: ProviderEntry[]; models: ModelEntry[] } = {
    byok: 'kept',
    providers: [{ slug: 'openai', api_key: 'file' }],
    models: [{ id: 'a/one', name: 'file', endpoints: [{ provider: 'openai', model: 'one' }] }],
  };

  it('is the configuration itself without stored providers', () => {
    expect(withStoredProviders(config, [])).toBe(config);
  });

  it('adds providers and their models', () => {
    const { providers, models, byok } = withStoredProviders(config, [entry('workshop', 'b/two')]);
    expect(byok).toBe('kept');
    expect(providers.map(({ slug }) => slug)).toEqual(['openai', 'workshop']);
    expect(models.map(({ id }) => id)).toEqual(['a/one', 'b/two']);
  });

  it('leaves out a provider that the configuration has, with its models', () => {
    const { providers, models } = withStoredProviders(config, [entry('openai', 'b/two')]);
    expect(providers).toEqual(config.providers);
    expect(models).toEqual(config.models);
  });

  it('adds endpoints behind those of the configuration, whose facts stay', () => {
    const { models } = withStoredProviders(config, [entry('workshop', 'a/one'), entry('shed', 'a/one')]);
    expect(models).toEqual([
      {
        id: 'a/one',
        name: 'file',
        endpoints: [
          { provider: 'openai', model: 'one' },
          { provider: 'workshop', model: 'workshop-a/one' },
          { provider: 'shed', model: 'shed-a/one' },
        ],
      },
    ]);
  });

  it('takes a tag once', () => {
    const twice = withStoredProviders({ ...config, models: [] as ModelEntry[] }, [
      {
        ...entry('workshop'),
        models: [...entry('workshop', 'x/y').models, ...entry('workshop', 'x/y').models],
      },
    ]);
    expect(twice.models[0]?.endpoints).toHaveLength(1);
  });
});
