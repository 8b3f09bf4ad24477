import { describe, expect, it } from 'vitest';
import { buildCatalog, type CatalogSource } from './build-catalog.ts';
import { CATALOG_DAY } from './build-model.ts';
import type { Catalog } from './catalog.ts';
import type { ModelEntry } from './entries.ts';
import { type AddedProvider, addedTo } from './model-entries.ts';

const KNOWN: ModelEntry[] = [
  {
    id: 'openai/gpt',
    name: 'GPT',
    context_length: 1000,
    input_modalities: ['text', 'image'],
    aliases: ['gpt', 'gpt-latest'],
    quality: { general: 0.5, coding: 0.7 },
    endpoints: [
      {
        provider: 'openai',
        model: 'gpt-real',
        tag: 'openai',
        supported_parameters: ['tools'],
        pricing: { prompt: '0.000001', completion: '0.000002' },
      },
      { provider: 'groq', model: 'gpt-g', tag: 'groq', pricing: { prompt: '0.000003' } },
    ],
  },
  { id: 'openai/mini', aliases: ['mini'], endpoints: [{ provider: 'openai', model: 'mini', tag: 'openai' }] },
];

const both = [
  { slug: 'openai', api_key: 'k' },
  { slug: 'groq', api_key: 'k' },
];

function catalogOf(models: ModelEntry[], providers = both) {
  return buildCatalog({
    providers,
    models,
    *known(slugs) {
      return KNOWN.map((model) => ({
        ...model,
        endpoints: model.endpoints?.filter(({ provider }) => slugs.has(provider)) ?? [],
      })).filter(({ endpoints }) => endpoints.length > 0);
    },
  });
}

describe('known models', () => {
  it('are there while a provider of theirs is reached at its public address', () => {
    expect(catalogOf([]).models.map(({ id }) => id)).toEqual(['openai/gpt', 'openai/mini']);
    const groq = catalogOf([], [{ slug: 'groq', api_key: 'k' }]);
    expect(groq.models.map(({ id, endpoints }) => [id, endpoints.map(({ tag }) => tag)])).toEqual([
      ['openai/gpt', ['groq']],
    ]);
    const elsewhere = { slug: 'openai', base_url: 'http://127.0.0.1:1', api_key: 'k' };
    expect(catalogOf([], [elsewhere]).models).toEqual([]);
  });

  it('are not there because an endpoint of the configuration names an unlisted provider', () => {
    const own = { id: 'own/llama', endpoints: [{ provider: 'openai', model: 'x' }] };
    const catalog = catalogOf([own], [{ slug: 'groq', api_key: 'k' }]);
    expect(catalog.models.map(({ id, endpoints }) => [id, endpoints.map(({ tag }) => tag)])).toEqual([
      ['openai/gpt', ['groq']],
      ['own/llama', ['openai']],
    ]);
  });
});

describe('the configuration over what is known', () => {
  it('wins member by member and keeps the rest', () => {
    const [model] = catalogOf([
      { id: 'openai/gpt', name: 'Mine', endpoints: [{ provider: 'groq', context_length: 500 }] },
    ]).models;
    expect(model).toMatchObject({ name: 'Mine', contextLength: 1000, inputModalities: ['text', 'image'] });
    expect(model?.endpoints.map(({ tag, upstreamModel }) => [tag, upstreamModel])).toEqual([
      ['groq', 'gpt-g'],
      ['openai', 'gpt-real'],
    ]);
    expect(model?.endpoints[0]).toMatchObject({
      contextLength: 500,
      pricing: { prompt: 3_000_000_000_000n },
    });
  });

  it('gives one score and keeps the other', () => {
    const qualityOf = (quality?: ModelEntry['quality']) =>
      catalogOf([{ id: 'openai/gpt', ...(quality && { quality }), endpoints: [{ provider: 'groq' }] }])
        .models[0]?.quality;
    expect(qualityOf({ general: 0.9 })).toEqual({ general: 0.9, coding: 0.7 });
    expect(qualityOf({ coding: 0.1, general: null })).toEqual({ general: 0.5, coding: 0.1 });
    expect(qualityOf()).toEqual({ general: 0.5, coding: 0.7 });
  });

  it('says how a model thinks, as one member, for the model and its endpoints', () => {
    const reasoning = { mandatory: true, supported_efforts: ['high', 'low'], default_effort: null } as const;
    const [model] = catalogOf([{ id: 'openai/gpt', reasoning, endpoints: [{ provider: 'groq' }] }]).models;
    const facts = { mandatory: true, supportedEfforts: ['low', 'high'] };
    expect(model?.reasoning).toEqual(facts);
    expect(model?.endpoints.map((endpoint) => endpoint.reasoning)).toEqual([facts, facts]);
    expect(catalogOf([]).models[0]?.reasoning).toBeUndefined();
  });

  it.each<[string, Partial<ModelEntry>, string]>([
    ['its release', { created: '2025-08-07', as_of: '2026-01-02' }, '2025-08-07'],
    ['the day of what is known of it', { as_of: '2026-01-02' }, '2026-01-02'],
    ['the day of the data that ship', {}, CATALOG_DAY],
  ])('dates a model by %s', (_, entry, day) => {
    const endpoints = [{ provider: 'groq' }];
    const { resolve } = catalogOf([{ id: 'own/a', endpoints, ...entry }]);
    expect(resolve('own/a')?.created).toBe(Date.parse(day) / 1000);
  });

  it('gives other prices as a whole', () => {
    const own = { provider: 'openai', pricing: { prompt: '0.000005' } };
    const [model] = catalogOf([{ id: 'openai/gpt', endpoints: [own] }]).models;
    expect(model?.endpoints[0]?.pricing).toEqual({ prompt: 5_000_000_000_000n });
    expect(model?.endpoints[0]?.supportedParameters).toEqual(new Set(['tools']));
  });

  it('takes nothing from another provider that happens to have the tag', () => {
    const own = { provider: 'groq', tag: 'openai' };
    const [model] = catalogOf([{ id: 'openai/gpt', endpoints: [own] }]).models;
    expect(
      model?.endpoints.map(({ tag, provider, upstreamModel }) => [tag, provider.slug, upstreamModel]),
    ).toEqual([
      ['openai', 'groq', 'openai/gpt'],
      ['groq', 'groq', 'gpt-g'],
    ]);
  });

  it('wins over known names', () => {
    const own = { provider: 'groq', model: 'x' };
    const { models, resolve } = catalogOf([
      { id: 'own/a', aliases: ['gpt', 'openai/mini'], endpoints: [own] },
      { id: 'gpt-latest', endpoints: [own] },
    ]);
    expect(models.map(({ id }) => id)).toEqual(['gpt-latest', 'openai/gpt', 'own/a']);
    expect(
      ['gpt', 'gpt-latest', 'openai/mini', 'openai/gpt', 'mini'].map((name) => resolve(name)?.id),
    ).toEqual(['own/a', 'gpt-latest', 'own/a', 'openai/gpt', undefined]);
    expect(resolve('openai/gpt')?.aliases).toEqual([]);
  });
});

describe('providers that were added', () => {
  const added = (slug: string, ...ids: string[]): AddedProvider => ({
    provider: { slug, dialect: 'openai-chat', base_url: 'http://127.0.0.1:1', api_key: 'k' },
    models: ids.map((id) => ({ id, name: slug, endpoints: [{ provider: slug, model: `${slug}-${id}` }] })),
  });
  const known: CatalogSource['known'] = function* (slugs) {
    return KNOWN.map((model) => ({
      ...model,
      endpoints: model.endpoints?.filter(({ provider }) => slugs.has(provider)) ?? [],
    })).filter(({ endpoints }) => endpoints.length > 0);
  };
  const shown = ({ models, providers }: Catalog) => ({
    providers: providers.map(({ slug, isDormant = false }) => [slug, isDormant]).sort(),
    models: models.map(({ endpoints, ...model }) => ({
      ...model,
      endpoints: endpoints.map(({ provider, ...endpoint }) => ({ ...endpoint, provider: provider.slug })),
    })),
  });
  const limitedTo = (entry: AddedProvider, ...workspaces: string[]): AddedProvider => ({
    ...entry,
    provider: { ...entry.provider, workspaces },
  });

  it('have their models behind what the configuration says', () => {
    const models = [{ id: 'a/one', name: 'file', aliases: ['one'], endpoints: [{ provider: 'openai' }] }];
    const catalog = buildCatalog({
      providers: both,
      models,
      added: [added('workshop', 'a/one', 'b/two', 'b/two'), added('shed', 'one')],
    });
    expect(
      catalog.models.map(({ id, name, endpoints }) => [id, name, endpoints.map(({ tag }) => tag)]),
    ).toEqual([
      ['a/one', 'file', ['openai', 'workshop', 'shed']],
      ['b/two', 'workshop', ['workshop']],
    ]);
    expect(catalog.resolve('one')?.id).toBe('a/one');
  });

  it('give way to those of the configuration', () => {
    expect(addedTo({ providers: both }, [added('openai', 'a'), added('shed', 'b')])).toMatchObject([
      { provider: { slug: 'shed' } },
    ]);
  });

  const sources: [string, Omit<CatalogSource, 'nowMs'>][] = [
    ['models of its own', { providers: both, models: [], added: [added('shed', 'own/a', 'own/b')] }],
    [
      'models of others too',
      { providers: both, models: [], known, added: [added('shed', 'openai/gpt', 'own/b')] },
    ],
    ['the alias of a known model', { providers: both, models: [], known, added: [added('shed', 'mini')] }],
    [
      'a model that the file names',
      {
        providers: both,
        models: [
          { id: 'own/a', description: 'of the file', aliases: ['a'], endpoints: [{ provider: 'groq' }] },
        ],
        known,
        added: [added('shed', 'own/a', 'a')],
      },
    ],
    [
      'endpoints of the file',
      {
        providers: [{ slug: 'groq', api_key: 'k' }],
        models: [
          { id: 'own/a', name: 'of the file', endpoints: [{ provider: 'openai', model: 'x' }] },
          { id: 'openai/gpt', name: 'Mine', endpoints: [{ provider: 'openai' }] },
        ],
        known,
        added: [{ provider: { slug: 'openai', api_key: 'k' }, models: [] }],
      },
    ],
    [
      'a known provider elsewhere',
      {
        providers: [{ slug: 'groq', api_key: 'k' }],
        models: [],
        known,
        added: [added('openai', 'openai/gpt')],
      },
    ],
    [
      'a known provider',
      {
        providers: [{ slug: 'groq', api_key: 'k' }],
        models: [],
        known,
        added: [{ provider: { slug: 'openai', api_key: 'k' }, models: [] }],
      },
    ],
  ];
  it.each(sources)('are not there for other workspaces, with %s', (_, source) => {
    const [one] = source.added ?? [];
    const kept = added('lathe', 'own/b', 'own/c');
    const limited = one === undefined ? [] : [limitedTo(one, 'lab')];
    const catalog = buildCatalog({ ...source, added: [...limited, kept] });
    const without = buildCatalog({ ...source, added: [kept] });
    const seen = catalog.seenFrom?.('other') as Catalog;
    expect(catalog.seenFrom?.('lab')).toBe(catalog);
    expect(shown(seen)).toEqual(shown(without));
    const names = ['openai/gpt', 'gpt', 'openai/mini', 'mini', 'own/a', 'a', 'own/b', 'own/c', 'none'];
    for (const name of names) expect(seen.resolve(name)?.id).toBe(without.resolve(name)?.id);
    const every = [seen.withEveryProvider(), without.withEveryProvider()] as const;
    expect(shown(every[0])).toEqual(shown(every[1]));
    for (const name of names) expect(every[0].resolve(name)?.id).toBe(every[1].resolve(name)?.id);
    // Models that are the same are no copies.
    expect(seen.resolve('own/c')).toBe(catalog.resolve('own/c'));
    expect(seen.models).toBe(seen.models);
  });
});

describe('the catalogue with every provider', () => {
  it('has known models of providers without a credential, and their endpoints of others', () => {
    const catalog = catalogOf(
      [{ id: 'own/a', endpoints: [{ provider: 'groq' }] }],
      [{ slug: 'groq', api_key: 'k' }],
    );
    const every = catalog.withEveryProvider();
    expect(
      every.models.map(({ id, endpoints }) => [id, endpoints.map(({ provider }) => provider.slug)]),
    ).toEqual([
      ['openai/gpt', ['openai', 'groq']],
      ['openai/mini', ['openai']],
      ['own/a', ['groq']],
    ]);
    expect(every.resolve('openai/gpt')?.endpoints[0]?.provider.isDormant).toBe(true);
    expect(every.resolve('mini')?.id).toBe('openai/mini');
    expect(catalog.resolve('mini')).toBeUndefined();
    expect(every.resolve('own/a')).toBe(catalog.resolve('own/a'));
    expect(every.withEveryProvider()).toBe(every);
    expect(catalog.withEveryProvider()).toBe(every);
  });
});

describe('dated prices', () => {
  const own = {
    id: 'own/a',
    endpoints: [
      {
        provider: 'groq',
        pricing: { prompt: '0.000002' },
        prices: [
          {
            from: '2026-05-01',
            pricing: { prompt: '0.000001', overrides: [{ min_prompt_tokens: 9, prompt: '1' }] },
          },
        ],
      },
    ],
  };
  const at = (day: string) => buildCatalog({ providers: both, models: [own], nowMs: Date.parse(day) });

  it('are those of the day, and say when the next ones begin', () => {
    const before = at('2026-04-30');
    expect(before.models[0]?.endpoints[0]?.pricing.prompt).toBe(2_000_000_000_000n);
    expect(before.models[0]?.endpoints[0]?.overrides).toBeUndefined();
    expect(before.dueAtMs).toBe(Date.parse('2026-05-01'));
    const after = at('2026-05-01');
    expect(after.models[0]?.endpoints[0]?.pricing.prompt).toBe(1_000_000_000_000n);
    expect(after.models[0]?.endpoints[0]?.overrides).toMatchObject([{ minPromptTokens: 9 }]);
    expect(after.dueAtMs).toBeUndefined();
  });
});
