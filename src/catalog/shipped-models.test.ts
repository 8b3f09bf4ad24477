import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../dialects/dialects.ts';
import { HOSTED_PRICES } from '../ir/hosted-use.ts';
import { NO_USAGE, type Usage } from '../ir/usage.ts';
import { runAtOnce } from '../kit/loop/turns.ts';
import { parsePrice } from '../kit/money.ts';
import { CATALOG_DAY } from './build-model.ts';
import { buildProvider } from './build-provider.ts';
import type { Pricing } from './catalog.ts';
import { type CatalogDocument, documentIssues } from './knowledge/catalog-document.ts';
import { billOf } from './prices/bill.ts';
import { rowOf } from './providers/provider-rows.ts';
import { allShippedModels, shippedModels } from './shipped-models.ts';

const folder = fileURLToPath(new URL('./shipped/', import.meta.url));
const files = (part: string) => readdirSync(join(folder, part)).map((name) => join(folder, part, name));
const documentOf = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as CatalogDocument;
const subjectOf = (file: string) => basename(file, '.json');

const models = files('models');
const endpoints = files('endpoints');

const isOfVectors = ({
  output_modalities: output,
}: {
  readonly output_modalities?: readonly string[] | null;
}) => output?.includes('embeddings') === true;

/** Prices of tools that a provider of the chat dialect runs. */
const PRICES_OF_TYPES: Readonly<Record<string, string>> = {
  browser_search: 'web_search',
  code_interpreter: 'code_execution',
};

/** Providers of the chat dialect that search by types of tools which no quirk names. */
const SEARCHING: ReadonlySet<string> = new Set(['moonshotai', 'z-ai']);

/** Tools of a provider's dialect that the provider does not run. */
const NOT_RUN: Readonly<Record<string, ReadonlySet<string>>> = {
  xai: new Set(['image_generation', 'image_generation_input']),
};

/** A usage in which something of every price is counted. */
const OF_EVERYTHING: Usage = {
  ...NO_USAGE,
  inputTokens: 10_000,
  cachedTokens: 3_000,
  cacheWriteTokens: 1_000,
  cacheWrite1hTokens: 1_000,
  audioTokens: 1_000,
  cachedAudioTokens: 500,
  inputImageTokens: 500,
  outputTokens: 5_000,
  reasoningTokens: 1_000,
  imageTokens: 1_000,
  audioOutputTokens: 500,
  webSearchRequests: 1,
  hosted: Object.fromEntries(HOSTED_PRICES.map((name) => [name, 10])),
};

describe('the data that ship', () => {
  it.each([...models, ...endpoints].map((file) => [file.slice(folder.length), file]))(
    '%s is valid',
    (_, file) => {
      expect(runAtOnce(documentIssues(documentOf(file), Date.now()))).toEqual([]);
    },
  );

  it('stand in the file of their author or provider', () => {
    for (const file of models) {
      for (const { id, endpoints: ways } of documentOf(file).models) {
        expect([id.split('/')[0], ways]).toEqual([subjectOf(file), undefined]);
      }
    }
    for (const file of endpoints) {
      for (const { endpoints: ways = [] } of documentOf(file).models) {
        expect(ways.length).toBeGreaterThan(0);
        expect(ways.every(({ provider }) => provider === subjectOf(file))).toBe(true);
      }
      expect(rowOf(subjectOf(file))?.dialect).toBeDefined();
    }
  });

  it('describe every model, and list prices and parameters of every endpoint', () => {
    const known = [...allShippedModels().values()];
    expect(known.length).toBeGreaterThan(150);
    for (const model of known) {
      expect(model).toMatchObject({
        name: expect.any(String),
        description: expect.any(String),
        context_length: expect.any(Number),
        ...(isOfVectors(model) ? {} : { max_output_tokens: expect.any(Number) }),
        input_modalities: expect.arrayContaining(['text']),
        source: expect.any(String),
        as_of: expect.stringMatching(/^2026-/),
      });
      if (model.home !== undefined) {
        expect(model.endpoints.map(({ provider }) => provider)).toContain(model.home);
      }
      for (const endpoint of model.endpoints) {
        expect(endpoint).toMatchObject({
          source: expect.any(String),
          as_of: expect.stringMatching(/^2026-/),
          supported_parameters: expect.arrayContaining(isOfVectors(model) ? [] : ['max_tokens']),
          pricing: { prompt: expect.any(String), completion: expect.any(String) },
        });
        expect(endpoint.max_output_tokens ?? 0).toBeLessThanOrEqual(endpoint.context_length ?? 0);
      }
    }
    expect(known.flatMap((model) => model.endpoints).length).toBeGreaterThan(300);
  });

  it('name embedding models that providers serve without a price for output', () => {
    const known = [...allShippedModels().values()].filter(isOfVectors);
    expect(known.map(({ id }) => id)).toContain('openai/text-embedding-3-small');
    const providers = new Set(known.flatMap(({ endpoints }) => endpoints.map(({ provider }) => provider)));
    expect(providers).toEqual(
      new Set(['amazon-bedrock', 'azure', 'cohere', 'google-ai-studio', 'mistral', 'openai']),
    );
    const prices = known.flatMap(({ endpoints }) => endpoints.map(({ pricing }) => pricing?.completion));
    expect(new Set(prices)).toEqual(new Set(['0']));
  });

  const conversing = [...allShippedModels().values()]
    .filter((model) => !isOfVectors(model))
    .flatMap((model) =>
      model.endpoints.map((way) => ({ ...way, id: model.id, inputs: model.input_modalities })),
    );

  it('price everything that a provider searches, draws and runs by itself', () => {
    const running = conversing.flatMap((way) => {
      const { dialect, quirks } = buildProvider({ slug: way.provider });
      const { types = [], models: named } = quirks.hostedTools ?? {};
      const prices = dialect === 'simulator' ? undefined : DIALECTS[dialect].upstream.hosted?.prices;
      const byQuirk = named?.test(way.model ?? '') ? types.map((type) => PRICES_OF_TYPES[type] ?? type) : [];
      const searches = SEARCHING.has(way.provider) ? ['web_search'] : [];
      const billed = [...(prices ?? []), ...byQuirk, ...searches].filter(
        (name) => !NOT_RUN[way.provider]?.has(name),
      );
      return billed.length === 0 ? [] : [{ ...way, billed }];
    });
    expect(running.length).toBeGreaterThan(80);
    const priceless = running.flatMap(({ id, provider, pricing, billed }) =>
      billed.filter((name) => !(Number(pricing?.[name]) > 0)).map((name) => `${id} at ${provider}: ${name}`),
    );
    expect(priceless).toEqual([]);
    // A source says where the prices are from.
    expect(running.filter(({ source }) => !/tools: |grounding: /.test(source))).toEqual([]);
  });

  it('price what models draw and say', () => {
    const known = [...allShippedModels().values()];
    const lacking = Object.entries({ image: 'image_output', audio: 'audio_output' }).flatMap(
      ([kind, price]) =>
        known
          .filter(({ output_modalities: kinds }) => (kinds as readonly string[] | undefined)?.includes(kind))
          .flatMap(({ id, endpoints: ways }) => ways.map(({ pricing }) => [id, price, pricing?.[price]]))
          .filter(([, , given]) => !(Number(given) > 0)),
    );
    expect(lacking).toEqual([]);
  });

  it('have no price that changes no charge', () => {
    const RAISE = parsePrice('0.001') ?? 0n;
    const lists = [...allShippedModels().values()].flatMap(({ id, endpoints: ways }) =>
      ways.flatMap(({ provider, pricing, prices }) =>
        [pricing, ...(prices ?? []).map((later) => later.pricing)].flatMap((given) => {
          const list = given ?? {};
          const overrides = (list.overrides ?? []) as readonly object[];
          return [list, ...overrides.map((over) => ({ ...list, ...over }))].map((each) => ({
            place: `${id} at ${provider}`,
            list: each as Readonly<Record<string, unknown>>,
          }));
        }),
      ),
    );
    expect(lists.length).toBeGreaterThan(350);
    for (const { place, list } of lists) {
      const texts = Object.entries(list).filter(([, price]) => typeof price === 'string');
      const pricing = Object.fromEntries(texts.map(([name, price]) => [name, parsePrice(price as string)]));
      const charge = (given: object) =>
        billOf({ usage: OF_EVERYTHING, inputImages: 1 }, given as Pricing).totalNanos;
      const usual = charge(pricing);
      for (const [name] of texts) {
        const raised = charge({ ...pricing, [name]: (pricing[name] ?? 0n) + RAISE });
        expect([place, name, raised > usual]).toEqual([place, name, true]);
      }
    }
  });

  it('price the sound of every model that hears', () => {
    const hearing = conversing.filter(({ inputs }) => inputs?.includes('audio'));
    expect(new Set(hearing.map(({ id }) => id)).size).toBeGreaterThanOrEqual(13);
    expect(hearing.filter(({ pricing }) => !(Number(pricing?.audio) > 0))).toEqual([]);
    expect(hearing.filter(({ pricing }) => !(Number(pricing?.input_audio_cache) > 0))).toEqual([]);
  });

  it('charge the flex tier half of all but cached tokens and searches, whose prices are published for none', () => {
    const HALVED = new Set(['prompt', 'completion', 'audio']);
    const ways = endpoints.flatMap((file) =>
      documentOf(file).models.flatMap((model) => model.endpoints ?? []),
    );
    const flex = ways.filter(({ tag }) => tag?.endsWith('/flex'));
    expect(flex.length).toBeGreaterThan(5);
    for (const { provider, model, tag, pricing } of flex) {
      const standard = ways.find((way) => way.model === model && way.tag === provider)?.pricing;
      const lists = (given: typeof pricing) => [given, ...((given?.overrides as object[]) ?? [])];
      for (const [at, list] of lists(pricing).entries()) {
        const usual = lists(standard)[at] as Record<string, string>;
        for (const [name, price] of Object.entries(list ?? {})) {
          if (typeof price !== 'string') continue;
          const share = HALVED.has(name) ? 0.5 : 1;
          expect([tag, model, name, Number(price)]).toEqual([
            tag,
            model,
            name,
            Number((Number(usual[name]) * share).toPrecision(12)),
          ]);
        }
      }
    }
  });

  it('are of the day that undated models count as made on', () => {
    const days = new Set([...models, ...endpoints].map((file) => documentOf(file).as_of));
    expect(days).toEqual(new Set([CATALOG_DAY]));
  });

  it('have the release date of most models, and scores of the well-known ones', () => {
    const known = [...allShippedModels().values()];
    expect(known.filter(({ created }) => created !== undefined).length).toBeGreaterThan(120);
    const scored = known.filter(({ quality }) => quality?.general && quality.coding);
    expect(scored.length).toBeGreaterThanOrEqual(40);
    for (const { quality, source } of known) {
      if (quality !== undefined) expect(source).toMatch(/GPQA Diamond .*SWE-bench Verified .* up to 20/);
    }
    for (const { created, knowledge_cutoff: cutoff } of known) {
      if (created && cutoff) expect(cutoff <= created).toBe(true);
    }
  });

  it.each([
    ['openai/o3', { mandatory: true, supported_efforts: ['low', 'medium', 'high'] }],
    ['openai/gpt-5', { mandatory: true, supported_efforts: ['minimal', 'low', 'medium', 'high'] }],
    ['openai/gpt-5.1', { mandatory: false, default_enabled: false }],
    ['google/gemini-2.5-pro', { mandatory: true, supports_max_tokens: true }],
    ['google/gemini-2.5-flash', { mandatory: false }],
    ['anthropic/claude-sonnet-4.5', { mandatory: false, supports_max_tokens: true }],
    ['moonshotai/kimi-k2-thinking', { mandatory: true }],
  ])('have the reasoning facts of %s', (id, reasoning) => {
    expect(allShippedModels().get(id)?.reasoning).toMatchObject(reasoning);
  });

  it('list no sampling settings of Claude models with adaptive thinking, the same at every provider', () => {
    const sampling = (names: readonly string[] = []) =>
      ['temperature', 'top_p', 'top_k'].filter((name) => names.includes(name));
    const claude = [...allShippedModels().values()].filter(({ id }) => id.startsWith('anthropic/'));
    for (const { id, reasoning, endpoints: ways } of claude) {
      const lists = ways.map(({ supported_parameters: names }) => sampling(names ?? []));
      expect([id, ...lists]).toEqual([id, ...lists.map(() => lists[0])]);
      if (reasoning?.supports_max_tokens === false) expect([id, lists[0]]).toEqual([id, []]);
    }
  });

  it('have consistent reasoning facts', () => {
    for (const { reasoning } of allShippedModels().values()) {
      if (!reasoning) continue;
      const { mandatory, default_enabled: isOn, default_effort: usual, supported_efforts: all } = reasoning;
      expect([mandatory, isOn]).not.toEqual([true, false]);
      if (usual && all) expect(all).toContain(usual);
    }
  });

  it('have no models without endpoints', () => {
    const served = allShippedModels();
    const described = models.flatMap((file) => documentOf(file).models.map(({ id }) => id));
    expect(described.filter((id) => !served.has(id))).toEqual([]);
  });

  it('give every name to one model', () => {
    const known = [...allShippedModels().values()];
    const names = known.flatMap(({ id, aliases }) => [id, ...(aliases ?? [])]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    for (const { id, canonical_slug: dated, aliases } of known) {
      if (dated !== undefined && dated !== id) expect(aliases).toContain(dated);
    }
  });

  it('stay small', () => {
    const bytes = [...models, ...endpoints].reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes).toBeLessThan(1_000_000);
  });
});

describe('shippedModels', () => {
  it('knows what some providers serve, and nothing of the others', () => {
    const known = [...shippedModels(['anthropic', 'nobody-knows']).values()];
    expect(known.map(({ id }) => id)).toContain('anthropic/claude-sonnet-4.5');
    expect(new Set(known.flatMap((model) => model.endpoints.map(({ provider }) => provider)))).toEqual(
      new Set(['anthropic']),
    );
  });

  it('has the facts of a model for any provider, if its id is given', () => {
    const known = shippedModels([], ['openai/gpt-5', '../../x', 'acme/none']);
    expect([...known.keys()]).toEqual(['openai/gpt-5']);
    expect(known.get('openai/gpt-5')).toMatchObject({ name: 'OpenAI: GPT-5', endpoints: [] });
  });
});
