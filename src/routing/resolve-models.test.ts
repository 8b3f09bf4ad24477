import { describe, expect, it } from 'vitest';
import { catalogOf, endpointOf, modelOf, providerOf } from '../../test/kit/builders/catalog.ts';
import { leastMs } from '../../test/kit/builders/least-ms.ts';
import { requestOf } from '../../test/kit/builders/request.ts';
import type { Model } from '../catalog/catalog.ts';
import { NO_TEAMS } from '../catalog/fusion-team.ts';
import { ROUTER_NAMES } from '../catalog/virtual-ids.ts';
import { GatewayError } from '../ir/errors.ts';
import type { Item } from '../ir/items.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { parsePrice } from '../kit/money.ts';
import { type HealthView, UNTRIED } from './health/endpoint-health.ts';
import type { Resolution, ResolutionContext } from './resolve/resolution.ts';
import { resolveModels } from './resolve-models.ts';
import { ROUTERS } from './routers/routers.ts';
import { needsOf } from './rules/needs.ts';

/** A model with one endpoint for each price of a million tokens of the prompt; answers cost as much. */
function priced(id: string, prices: number | number[], changes: Partial<Model> = {}): Model {
  const endpoints = [prices].flat().map((price, index) => {
    const each = parsePrice((price / 1_000_000).toFixed(12)) ?? 0n;
    return endpointOf({ modelId: id, tag: `acme/${index}`, pricing: { prompt: each, completion: each } });
  });
  return modelOf({ id, endpoints, ...changes });
}

const MODELS = [
  priced('acme/large', 10, { aliases: ['acme/big'], quality: { general: 0.9, coding: 0.7 } }),
  priced('acme/medium', 5, { quality: { general: 0.8, coding: 0.8 } }),
  priced('acme/small', 1, { quality: { general: 0.4, coding: 0.35 } }),
  priced('beta/tiny', 0.5, { quality: { general: 0.3, coding: 0.1 } }),
  priced('beta/unscored', 0.7),
  priced('beta/tiny:free', [0, 3], { quality: { general: 0.3 } }),
];

function contextOf(changes: Partial<ResolutionContext> = {}): ResolutionContext {
  return {
    catalog: catalogOf(...MODELS),
    vendor: 'acorn',
    autoModels: undefined,
    fusion: NO_TEAMS,
    needs: needsOf(requestOf()),
    serves: () => true,
    weightedPrice: () => undefined,
    health: { of: () => UNTRIED },
    pinnedModel: undefined,
    random: () => 0,
    ...changes,
  };
}

interface Asked {
  readonly model?: string | string[];
  readonly plugins?: JsonObject[];
  readonly request?: Partial<GenerationRequest>;
  readonly context?: Partial<ResolutionContext>;
}

function resolve({ model = 'acorn/auto', plugins = [], request, context }: Asked): Resolution {
  const asked = requestOf({
    models: [model].flat(),
    hasFallbackModels: Array.isArray(model),
    body: { plugins },
    wishes: { provider: {}, plugins: plugins.filter(({ enabled }) => enabled !== false) },
    ...request,
  });
  return resolveModels(asked, contextOf({ needs: needsOf(asked), ...context }));
}

const idsOf = ({ models }: Resolution) => models.map(({ model }) => model.id);

function failure(asked: Asked): string {
  try {
    resolve(asked);
  } catch (error) {
    if (error instanceof GatewayError) return `${error.status} ${error.message}`;
    throw error;
  }
  return 'none';
}

describe('ids', () => {
  const found: [string, string | string[], Resolution['strategy'], string[], string[]][] = [
    ['a model', 'acme/large', 'direct', ['acme/large'], []],
    ['an alias', 'acme/big', 'alias', ['acme/large'], []],
    ['a variant', 'acme/large:nitro', 'direct', ['acme/large'], ['nitro']],
    ['an alias with a variant', 'acme/big:floor', 'alias', ['acme/large'], ['floor']],
    ['stacked variants', 'acme/large:nitro:floor:nitro', 'direct', ['acme/large'], ['nitro', 'floor']],
    ['a suffix that is a model of its own', 'beta/tiny:free', 'direct', ['beta/tiny:free'], []],
    ['the same behind a variant', 'beta/tiny:exacto:free', 'direct', ['beta/tiny:free'], ['exacto']],
    ['a list', ['acme/small', 'acme/large'], 'fallback', ['acme/small', 'acme/large'], []],
    ['a list with repeats', ['acme/large', 'acme/big', 'acme/large'], 'fallback', ['acme/large'], []],
  ];
  it.each(found)('%s', (_, model, strategy, ids, variants) => {
    const resolution = resolve({ model });
    expect(resolution.strategy).toBe(strategy);
    expect(idsOf(resolution)).toEqual(ids);
    expect(resolution.models[0]?.variants).toEqual(variants);
  });

  const refused: [string, string | string[], string][] = [
    ['an unknown id', 'acme/none', '400 acme/none is not a valid model ID'],
    [
      'an unknown suffix',
      'acme/large:fast',
      '400 acme/large:fast is not a valid model ID. Did you mean acme/large?',
    ],
    [
      'a model without that entry',
      'acme/large:free',
      '400 acme/large:free is not a valid model ID. Did you mean acme/large?',
    ],
    ['an unknown id in a list', ['acme/large', 'nobody/x'], '400 nobody/x is not a valid model ID'],
    ['a variant of an unknown id', 'acme/none:nitro', '400 acme/none:nitro is not a valid model ID'],
    [
      'an unknown id with a variant that searches',
      'acme/none:online',
      '400 acme/none:online is not a valid model ID',
    ],
    [
      'a router that is not built',
      'acorn/bodybuilder',
      '400 model: "acorn/bodybuilder" is not available on this gateway',
    ],
    ['a router of another operator', 'other/auto', '400 other/auto is not a valid model ID'],
    ['a name that every object has', 'acorn/constructor', '400 acorn/constructor is not a valid model ID'],
    ['an unknown family', '~acme/huge-latest', '400 ~acme/huge-latest is not a valid model ID'],
  ];
  it.each(refused)('refuses %s', (_, model, message) => {
    expect(failure({ model })).toBe(message);
  });

  it.each(['acorn/free', 'acorn/free:nitro'])(
    'takes %s for the router, whatever the catalogue has',
    (model) => {
      const catalog = catalogOf(...MODELS, priced('acorn/free', 1), priced('acorn/free:nitro', 1));
      expect(resolve({ model, context: { catalog } }).strategy).toBe('free');
    },
  );

  it('has a router for every name that no model can have', () => {
    expect(Object.keys(ROUTERS)).toEqual(ROUTER_NAMES);
  });

  it('shortens an id that is quoted back', () => {
    expect(failure({ model: 'x'.repeat(5000) }).length).toBeLessThan(150);
  });
});

describe('the newest of a family', () => {
  const catalog = catalogOf(
    priced('acme/opus-4', 1, { created: 100 }),
    priced('acme/opus-10.2', 1, { created: 100 }),
    priced('acme/opus-9', 1, { created: 100 }),
    priced('acme/opus-mini-1', 1, { created: 300 }),
    priced('acme/opus-mini-1:free', 1, { created: 400 }),
    priced('acme/opuscule-1', 1, { created: 500 }),
    priced('acme/opus-chat-latest', 1, { created: 500 }),
    priced('acme/sonnet-2', 1, { aliases: ['~acme/sonnet-latest'] }),
    priced('acme/sonnet-3', 1),
    priced('other/opus-99', 1, { created: 500 }),
  );
  it.each([
    ['~acme/opus-latest', 'acme/opus-mini-1'],
    ['~acme/opus-mini-latest', 'acme/opus-mini-1'],
    ['~acme/opus-10-latest', 'acme/opus-10.2'],
    ['~acme/opus-4-latest:nitro', 'acme/opus-4'],
    ['~other/opus-latest', 'other/opus-99'],
    ['~acme/sonnet-latest', 'acme/sonnet-2'],
  ])('%s is %s', (model, id) => {
    const resolution = resolve({ model, context: { catalog } });
    expect(idsOf(resolution)).toEqual([id]);
    expect(resolution.strategy).toBe('latest');
  });

  it('goes by the version where dates are equal', () => {
    const same = catalogOf(...catalog.models.filter(({ created }) => created === 100));
    expect(idsOf(resolve({ model: '~acme/opus-latest', context: { catalog: same } }))).toEqual([
      'acme/opus-10.2',
    ]);
  });
});

describe('the auto-router', () => {
  const auto = (settings: JsonObject) => [{ id: 'auto-router', ...settings }];
  // In ascending price: tiny:free 0, tiny 20, unscored 40, small 60, medium 80, large 100.
  const cases: [string, JsonObject, string[]][] = [
    ['takes 7 for the trade-off', {}, ['beta/tiny:free', 'beta/tiny']],
    [
      'is after quality only at 0',
      { cost_quality_tradeoff: 0 },
      ['acme/large', 'acme/medium', 'acme/small', 'beta/tiny:free', 'beta/tiny'],
    ],
    ['is after the price only at 10', { cost_quality_tradeoff: 10 }, ['beta/tiny:free']],
    [
      'counts the limit itself as inside',
      { cost_quality_tradeoff: 6 },
      ['beta/tiny:free', 'beta/tiny', 'beta/unscored'],
    ],
    [
      'puts unscored models last',
      { cost_quality_tradeoff: 4 },
      ['acme/small', 'beta/tiny:free', 'beta/tiny', 'beta/unscored'],
    ],
    [
      'takes patterns',
      { cost_quality_tradeoff: 0, allowed_models: ['acme/*'] },
      ['acme/large', 'acme/medium', 'acme/small'],
    ],
    [
      'takes exact ids and aliases',
      { cost_quality_tradeoff: 0, allowed_models: ['acme/big', 'acme/small'] },
      ['acme/large', 'acme/small'],
    ],
    [
      'takes what is excluded out',
      { cost_quality_tradeoff: 0, allowed_models: ['acme/*'], excluded_models: ['*large*'] },
      ['acme/medium', 'acme/small'],
    ],
    [
      'takes null for absent',
      { allowed_models: null, excluded_models: null, cost_quality_tradeoff: null, cost_tier: null },
      ['beta/tiny:free', 'beta/tiny'],
    ],
    ['counts percentiles among the allowed', { allowed_models: ['acme/*'] }, ['acme/small']],
    [
      'takes a single candidate at any price',
      { allowed_models: ['acme/large'], cost_quality_tradeoff: 10 },
      ['acme/large'],
    ],
    ['low: below 20', { cost_tier: 'low' }, ['beta/tiny:free']],
    ['medium: 20 up to 40', { cost_tier: 'medium' }, ['beta/tiny']],
    ['high: 40 up to 60', { cost_tier: 'high' }, ['beta/unscored']],
    ['xhigh: 60 up to 80', { cost_tier: 'xhigh' }, ['acme/small']],
    ['max: 80 and above', { cost_tier: 'max' }, ['acme/large', 'acme/medium']],
    [
      'takes the nearest where a tier is empty',
      { cost_tier: 'xhigh', allowed_models: ['acme/*'] },
      ['acme/medium'],
    ],
  ];
  it.each(cases)('%s', (_, settings, ids) => {
    const resolution = resolve({ plugins: auto(settings) });
    expect(resolution.strategy).toBe('auto');
    expect(idsOf(resolution)).toEqual(ids);
  });

  it('reports its decision and the reason', () => {
    const { pipeline } = resolve({ plugins: auto({ cost_quality_tradeoff: 2 }) });
    expect(pipeline).toMatchObject([
      {
        type: 'plugin',
        name: 'auto-router',
        summary:
          'general task: acme/medium has the best general score (0.8) of 5 models up to price percentile 80',
        data: {
          task_type: 'general',
          prompt_tokens: 2,
          tools: 0,
          modalities: [],
          script: 'latin',
          reasoning: false,
          considered: 6,
          price_percentile_limit: 80,
        },
      },
    ]);
    expect(pipeline[0]?.data?.candidates).toHaveLength(5);
  });

  it('goes by the coding score for code', () => {
    const text = 'Fix this:\n```ts\nconst answer = 41;\n```';
    const items = [{ type: 'message', role: 'user', content: [{ type: 'text', text }] }] as const;
    const resolution = resolve({ request: { items }, plugins: auto({ cost_quality_tradeoff: 0 }) });
    expect(idsOf(resolution).slice(0, 2)).toEqual(['acme/medium', 'acme/large']);
    expect(resolution.pipeline[0]?.data?.task_type).toBe('coding');
  });

  it('stays within what the operator allows', () => {
    const context = { autoModels: ['acme/s*', 'beta/*'] };
    expect(idsOf(resolve({ context, plugins: auto({ allowed_models: ['acme/*'] }) }))).toEqual([
      'acme/small',
    ]);
    expect(failure({ context, plugins: auto({ allowed_models: ['acme/large'] }) })).toBe(
      '404 No models match your request and model restrictions',
    );
  });

  it('leaves out models without a serving endpoint, and prices by the endpoints that serve', () => {
    const catalog = catalogOf(priced('a/one', [1, 9]), priced('a/two', 2), priced('a/three', 3));
    const resolution = resolve({
      plugins: auto({ cost_quality_tradeoff: 10 }),
      context: {
        catalog,
        serves: ({ tag }, { id }) => id !== 'a/two' && (id !== 'a/one' || tag === 'acme/1'),
      },
    });
    expect(idsOf(resolution)).toEqual(['a/three']);
  });

  it('leaves out models that lack a capability or context, if others remain', () => {
    const lacking = new Set(['temperature']);
    const catalog = catalogOf(
      priced('a/plain', 1, { endpoints: [endpointOf({ supportedParameters: lacking })] }),
      priced('a/short', 1, { contextLength: 10 }),
      priced('a/silent', 1, { outputModalities: ['image'] }),
      priced('a/good', 9),
    );
    const tools = [{ type: 'function', name: 'look' }] as const;
    const text = 'word '.repeat(100);
    const items = [{ type: 'message', role: 'user', content: [{ type: 'text', text }] }] as const;
    const asked = { request: { tools, items }, context: { catalog } };
    expect(idsOf(resolve(asked))).toEqual(['a/good']);
    const plugins = auto({ allowed_models: ['a/plain'] });
    expect(idsOf(resolve({ ...asked, plugins }))).toEqual(['a/plain']);
    const poor = catalogOf(...catalog.models.slice(0, 1));
    expect(idsOf(resolve({ ...asked, context: { catalog: poor } }))).toEqual(['a/plain']);
  });

  it('keeps the model of the conversation while it is among the choice', () => {
    const plugins = (settings: JsonObject = {}) => auto({ cost_quality_tradeoff: 0, ...settings });
    const context = { pinnedModel: 'acme/small' };
    expect(idsOf(resolve({ context, plugins: plugins() }))[0]).toBe('acme/small');
    expect(idsOf(resolve({ context, plugins: plugins({ pin_model: false }) }))[0]).toBe('acme/large');
    expect(idsOf(resolve({ context, plugins: plugins({ excluded_models: ['acme/small'] }) }))[0]).toBe(
      'acme/large',
    );
  });

  it('reports settings and plugins that have no effect', () => {
    const report = (asked: Asked) => resolve(asked).report.map(({ field, detail }) => `${field}: ${detail}`);
    expect(report({ plugins: auto({ cost_tier: 'low', cost_quality_tradeoff: 3 }) })).toEqual([
      'plugins[0].cost_quality_tradeoff: cost_tier wins over it',
    ]);
    const off = { id: 'web', enabled: false };
    expect(report({ model: 'acme/large', plugins: [off, ...auto({})] })).toEqual([
      'plugins[1]: it steers the model acorn/auto, which this request does not name',
    ]);
    expect(report({ model: ['acme/large', 'acorn/auto:nitro'], plugins: auto({}) })).toEqual([]);
  });

  it('takes its settings from the beta plugin under the beta name', () => {
    const plugins = [{ id: 'auto-beta-router', allowed_models: ['acme/large'] }];
    const resolution = resolve({ model: 'acorn/auto-beta', plugins });
    expect(idsOf(resolution)).toEqual(['acme/large']);
    expect(resolution.pipeline[0]?.name).toBe('auto-beta-router');
  });
});

describe('pareto-code', () => {
  const pareto = (settings: JsonObject = {}): JsonObject[] => [{ id: 'pareto-router', ...settings }];
  const cases: [string, JsonObject, string[], JsonObject][] = [
    ['the high tier where nothing is said', {}, ['acme/medium', 'acme/large'], { quality_floor: 0.66 }],
    ['0.66 is high', { min_coding_score: 0.66 }, ['acme/medium', 'acme/large'], { quality_floor: 0.66 }],
    ['0.33 is medium', { min_coding_score: 0.33 }, ['acme/small'], { quality_floor: 0.33 }],
    [
      'below is low; models without a score are in no tier',
      { min_coding_score: 0.2 },
      ['beta/tiny'],
      { quality_floor: 0 },
    ],
    [
      'a price limit goes before tiers: the best that fits',
      { max_price: 1 },
      ['acme/small', 'beta/tiny'],
      { max_price: 1 },
    ],
  ];
  it.each(cases)('%s', (_, settings, ids, params) => {
    const resolution = resolve({ model: 'acorn/pareto-code', plugins: pareto(settings) });
    expect(resolution.strategy).toBe('pareto');
    expect(idsOf(resolution)).toEqual(ids);
    expect(resolution.params).toEqual(params);
  });

  it('has nothing to choose from where no model has a score', () => {
    const catalog = catalogOf(...MODELS.filter(({ quality }) => quality.coding === undefined));
    expect(() => resolve({ model: 'acorn/pareto-code', context: { catalog } })).toThrow('coding score');
  });

  it('falls to the nearest tier', () => {
    const without = (...ids: string[]) => ({
      catalog: catalogOf(...MODELS.filter(({ id }) => !ids.includes(id))),
    });
    const first = (settings: JsonObject, context: Partial<ResolutionContext>) =>
      idsOf(resolve({ model: 'acorn/pareto-code', plugins: pareto(settings), context }))[0];
    expect(first({}, without('acme/large', 'acme/medium'))).toBe('acme/small');
    expect(first({ min_coding_score: 0.5 }, without('acme/small'))).toBe('acme/medium');
    expect(first({}, without('acme/large', 'acme/medium', 'acme/small'))).toBe('beta/tiny');
  });

  it('uses the recent cost of tokens if that is requested and known', () => {
    const context = { weightedPrice: (id: string) => (id === 'acme/large' ? 0.000001 : undefined) };
    const first = (settings: JsonObject) =>
      idsOf(resolve({ model: 'acorn/pareto-code', plugins: pareto(settings), context }))[0];
    expect(first({ price_source: 'weighted_avg' })).toBe('acme/large');
    expect(first({ price_source: 'prompt' })).toBe('acme/medium');
  });

  it('takes the fastest with :nitro', () => {
    const speed = { p50: 90, p75: 80, p90: 70, p99: 60 };
    const health = {
      of: (site: string) => (site.startsWith('acme/large') ? { ...UNTRIED, throughput: speed } : UNTRIED),
    };
    const resolution = resolve({ model: 'acorn/pareto-code:nitro', context: { health } });
    expect(idsOf(resolution)).toEqual(['acme/large', 'acme/medium']);
    expect(resolution.models[0]?.variants).toEqual(['nitro']);
  });

  it('keeps endpoints above the price limit out', () => {
    const catalog = catalogOf(priced('a/both', [1, 5], { quality: { coding: 0.5 } }));
    const { models } = resolve({
      model: 'acorn/pareto-code',
      plugins: pareto({ max_price: 2 }),
      context: { catalog },
    });
    expect(models[0]?.model.endpoints.map(({ tag }) => tag)).toEqual(['acme/0']);
  });

  it('has no model to choose from if none is within the limit', () => {
    const model = 'acorn/pareto-code';
    const context = { catalog: catalogOf(priced('a/b', 5, { quality: { coding: 0.5 } })) };
    expect(failure({ model, context, plugins: pareto({ max_price: 4.99 }) })).toBe(
      '404 No model that can take this request has an input price of at most 4.99 USD per million tokens',
    );
    expect(failure({ model, context: { serves: () => false } })).toBe(
      '404 No models match your request and model restrictions',
    );
  });

  it('reports what a price limit overrules', () => {
    const plugins = pareto({ max_price: 1, min_coding_score: 0.5 });
    expect(resolve({ model: 'acorn/pareto-code', plugins }).report).toMatchObject([
      { field: 'plugins[0].min_coding_score', detail: 'max_price wins over it' },
    ]);
  });
});

describe('free', () => {
  const catalog = catalogOf(
    priced('a/one', 0),
    priced('a/two', [2, 0]),
    priced('a/three', 0),
    priced('a/paid', 1),
    priced('a/four', 0),
    priced('a/five', 0),
  );
  it('draws among the models that cost nothing, with their free endpoints only', () => {
    const drawn = (random: number) =>
      resolve({ model: 'acorn/free', context: { catalog, random: () => random } });
    expect(idsOf(drawn(0))).toEqual(['a/one', 'a/two', 'a/three', 'a/four']);
    expect(idsOf(drawn(0.99))).toEqual(['a/five', 'a/four', 'a/three', 'a/two']);
    expect(drawn(0).models[1]?.model.endpoints).toHaveLength(1);
    expect(drawn(0).strategy).toBe('free');
  });

  it('keeps the model of the conversation', () => {
    expect(idsOf(resolve({ model: 'acorn/free', context: { catalog, pinnedModel: 'a/five' } }))[0]).toBe(
      'a/five',
    );
  });

  it('lets a later entry of a list bring the endpoints that cost something', () => {
    const { models } = resolve({ model: ['acorn/free', 'a/two'], context: { catalog } });
    expect(
      models.filter(({ model }) => model.id === 'a/two').map(({ model }) => model.endpoints.length),
    ).toEqual([1, 1]);
  });

  it('throws if there is none', () => {
    expect(
      failure({
        model: 'acorn/free',
        context: { serves: (endpoint) => (endpoint.pricing.prompt ?? 0n) > 0n },
      }),
    ).toBe('404 No free model can take this request');
  });
});

describe('reasoning custody', () => {
  const openai = providerOf({ slug: 'open', dialect: 'responses' });
  const keeping = (model: Model): Model => ({
    ...model,
    endpoints: model.endpoints.map((endpoint) => ({
      ...endpoint,
      provider: openai,
      site: `${model.id} open`,
    })),
  });
  const items: readonly Item[] = [
    { type: 'reasoning', text: [], summary: [], encrypted: 'xyz', format: 'openai-responses-v1' },
    { type: 'message', role: 'user', content: [{ type: 'text', text: 'And?' }] },
  ];
  /** Those that cost something in ascending price: cheap 0, good 33, sealed 67, dear 100. */
  const catalog = catalogOf(
    priced('a/cheap', 1, { quality: { general: 0.1, coding: 0.9 } }),
    priced('a/good', 2, { quality: { general: 0.9, coding: 0.8 } }),
    keeping(priced('b/sealed', 3, { quality: { general: 0.3, coding: 0.4 } })),
    keeping(priced('b/dear', 4, { quality: { general: 0.4, coding: 0.5 } })),
    priced('c/free-1', 0),
    keeping(priced('c/free-2', 0)),
  );
  const without = (...ids: string[]) => catalogOf(...catalog.models.filter(({ id }) => !ids.includes(id)));
  const paid = without('c/free-1', 'c/free-2');
  const keep = (model: string, context: Partial<ResolutionContext> = {}, settings: JsonObject[] = []) => {
    const resolution = resolve({
      model,
      plugins: settings,
      request: { items },
      context: { catalog: paid, ...context },
    });
    return { ids: idsOf(resolution), summary: resolution.pipeline[0]?.summary };
  };
  const shaky = (...ids: string[]): HealthView => ({
    of: (site) => ({ ...UNTRIED, isUnstable: ids.some((id) => site.startsWith(id)) }),
  });
  const quality = [{ id: 'auto-router', cost_quality_tradeoff: 0 }];

  it('wins over quality in auto', () => {
    expect(keep('acorn/auto', {}, quality)).toEqual({
      ids: ['b/dear', 'b/sealed', 'a/good', 'a/cheap'],
      summary:
        'general task: b/dear has the best general score (0.4) of 2 models up to price percentile 100 able to take back the sealed reasoning of this conversation',
    });
  });

  it('wins over the price in auto, which then takes the nearest', () => {
    expect(keep('acorn/auto')).toEqual({
      ids: ['b/sealed', 'a/cheap'],
      summary:
        'general task: b/sealed is at price percentile 67; there is no model up to price percentile 30 able to take back the sealed reasoning of this conversation',
    });
  });

  it('wins over the model that the conversation already has', () => {
    expect(keep('acorn/auto', { pinnedModel: 'a/good' }, quality).ids).toEqual([
      'b/dear',
      'b/sealed',
      'a/good',
      'a/cheap',
    ]);
    expect(keep('acorn/auto', { pinnedModel: 'b/sealed' }, quality)).toMatchObject({
      ids: ['b/sealed', 'b/dear', 'a/good', 'a/cheap'],
      summary: expect.stringContaining('which this conversation already has, is still one of 2 models'),
    });
  });

  it('holds only while an endpoint with custody is healthy', () => {
    expect(keep('acorn/auto', { health: shaky('b/dear') }, quality).ids).toEqual([
      'b/sealed',
      'a/good',
      'b/dear',
      'a/cheap',
    ]);
    expect(keep('acorn/auto', { health: shaky('b/') }, quality)).toMatchObject({
      ids: ['a/good', 'b/dear', 'b/sealed', 'a/cheap'],
      summary: expect.not.stringContaining('sealed reasoning'),
    });
  });

  it('stays within the restrictions', () => {
    const plugins = [{ id: 'auto-router', cost_quality_tradeoff: 0, allowed_models: ['a/*'] }];
    expect(keep('acorn/auto', {}, plugins).ids).toEqual(['a/good', 'a/cheap']);
  });

  it('wins over the tier in pareto-code', () => {
    expect(keep('acorn/pareto-code')).toEqual({
      ids: ['b/sealed', 'b/dear', 'a/cheap'],
      summary:
        'b/sealed is the cheapest of the medium tier able to take back the sealed reasoning of this conversation; the high tier has none',
    });
    expect(keep('acorn/pareto-code', {}, [{ id: 'pareto-router', max_price: 3 }])).toEqual({
      ids: ['b/sealed', 'a/cheap', 'a/good'],
      summary:
        'b/sealed is the best at coding of those able to take back the sealed reasoning of this conversation with an input price of at most 3 USD per million tokens',
    });
  });

  it('wins over chance in free', () => {
    expect(keep('acorn/free', { catalog, random: () => 0 })).toEqual({
      ids: ['c/free-2', 'c/free-1'],
      summary: 'c/free-2 is free and able to take back the sealed reasoning of this conversation',
    });
    expect(keep('acorn/free', { catalog: without('c/free-2') })).toEqual({
      ids: ['c/free-1'],
      summary: undefined,
    });
  });
});

describe('time', () => {
  it('stays small with hostile patterns over a large catalogue', () => {
    const models = Array.from({ length: 300 }, (_, index) =>
      priced(`${'a'.repeat(50)}/${'a'.repeat(9)}-${index}`, 1),
    );
    const catalog = catalogOf(...models);
    const allowed = Array.from({ length: 1024 }, (_, index) => `*${'a*'.repeat(28)}b${index}*`);
    const resolve = () =>
      failure({ context: { catalog }, plugins: [{ id: 'auto-router', allowed_models: allowed }] });
    expect(resolve()).toMatch(/^404/);
    expect(leastMs(resolve)).toBeLessThan(250);
  });

  it('is not spent on a long prompt', () => {
    const text = `${'lorem ipsum '.repeat(2_500_000)}`;
    const items = [{ type: 'message', role: 'user', content: [{ type: 'text', text }] }] as const;
    // The text is made on first use, and others on the machine disturb some rounds.
    const durations = Array.from({ length: 5 }, () => {
      const started = performance.now();
      const { pipeline } = resolve({ request: { items } });
      expect(pipeline[0]?.data?.task_type).toBe('long_context');
      return performance.now() - started;
    });
    expect(Math.min(...durations)).toBeLessThan(20);
  });
});
