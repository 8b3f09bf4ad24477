import type { Endpoint, Model } from '../src/catalog/catalog.ts';
import { NO_TEAMS } from '../src/catalog/fusion-team.ts';
import type { GenerationRequest } from '../src/ir/request.ts';
import type { JsonObject } from '../src/kit/json/json.ts';
import { type EndpointHealth, type HealthView, UNTRIED } from '../src/routing/health/endpoint-health.ts';
import { planRoute } from '../src/routing/plan-route.ts';
import { resolveModels } from '../src/routing/resolve-models.ts';
import { SHARED, siteOf } from '../src/routing/rules/candidate.ts';
import { needsOf } from '../src/routing/rules/needs.ts';
import { preferencesOf } from '../src/routing/rules/preferences.ts';
import { servability } from '../src/routing/rules/servability.ts';
import { catalogOf, endpointOf, modelOf, providerOf } from '../test/kit/builders/catalog.ts';
import { requestOf } from '../test/kit/builders/request.ts';
import { byokCredentialOf, evenly, routeOf } from '../test/kit/builders/route.ts';
import { priced } from '../test/kit/builders/routed-models.ts';

/** What planning costs with 300 models and 1,000 endpoints, all of them measured. */

const MODELS = 300;
const ENDPOINTS = 1000;
const PROVIDERS = 40;

const providers = Array.from({ length: PROVIDERS }, (_, index) =>
  providerOf({ slug: `provider-${index}`, name: `Provider ${index}` }),
);

function endpointAt(index: number, modelId: string): Endpoint {
  const provider = providers[(index * 7) % PROVIDERS]!;
  return endpointOf({
    provider,
    modelId,
    tag: `${provider.slug}/${index}`,
    pricing: priced(1 + (index % 13)),
    supportedParameters: new Set(['temperature', 'max_tokens', 'tools', 'response_format']),
  });
}

const models: Model[] = Array.from({ length: MODELS }, (_, index) => {
  const id = `author-${index % 30}/model-${index}`;
  const endpoints: Endpoint[] = [];
  for (let each = index; each < ENDPOINTS; each += MODELS) endpoints.push(endpointAt(each, id));
  return modelOf({ id, endpoints, quality: { general: (index % 97) / 97, coding: (index % 89) / 89 } });
});

const known = new Map<string, EndpointHealth>(
  models.flatMap(({ endpoints }) =>
    endpoints.map((endpoint, index) => [
      siteOf(endpoint, SHARED),
      { ...UNTRIED, latency: evenly(100 + index), throughput: evenly(50 + index) },
    ]),
  ),
);
const health: HealthView = { of: (site) => known.get(site) ?? UNTRIED };

const byok = Array.from({ length: 10 }, (_, index) =>
  byokCredentialOf({ id: `key-${index}`, provider: `provider-${index * 4}` }),
);

const tools = [{ type: 'function', name: 'weather' }] as const;
const asking = (provider: JsonObject, changes: Partial<GenerationRequest> = {}) =>
  requestOf({ requestedOutputTokens: 500, wishes: { provider, plugins: [] }, ...changes });

/** Many preferences at once. */
const exacting: JsonObject = {
  order: ['provider-3', 'provider-10'],
  ignore: ['provider-7'],
  max_price: { prompt: 12, completion: 20 },
  preferred_max_latency: { p90: 1 },
  require_parameters: true,
};

const plain = asking({});
const sorted = asking({ sort: { by: 'throughput', partition: 'none' } });

const CASES: readonly (readonly [title: string, run: (turn: number) => unknown])[] = [
  ['direct', (turn) => plan(plain, modelsFrom(turn, 1))],
  ['direct, with tools', (turn) => plan(asking({}, { tools }), modelsFrom(turn, 1))],
  ['fallback list of 8', (turn) => plan(plain, modelsFrom(turn, 8))],
  ['fallback list of 8, many preferences', (turn) => plan(asking(exacting, { tools }), modelsFrom(turn, 8))],
  ['fallback list of 8, ten BYOK credentials', (turn) => plan(plain, modelsFrom(turn, 8), byok)],
  ['64 models, sorted by throughput, no partition', (turn) => plan(sorted, modelsFrom(turn, 64))],
  ['all 300 models, sorted by throughput, no partition', () => plan(sorted, models)],
  ['all 300 models, no partition, a price limit that excludes all', () => plan(excludingAll, models)],
  ['signalbox/auto over all 300 models', () => resolveAndPlan(auto)],
  ['signalbox/auto over all 300 models, many preferences', () => resolveAndPlan(autoWithMany)],
  ['servability of all 300 models', () => countServable(plain)],
  ['servability of all 300 models, many preferences', () => countServable(asking(exacting, { tools }))],
];

const auto = asking({}, { models: ['signalbox/auto'] });
const autoWithMany = asking(exacting, { models: ['signalbox/auto'], tools });
const catalog = catalogOf(...models);

/** From the name of a router to the order of attempts. */
function resolveAndPlan(request: GenerationRequest): unknown {
  const needs = needsOf(request);
  const resolution = resolveModels(request, {
    catalog,
    vendor: 'signalbox',
    autoModels: undefined,
    fusion: NO_TEAMS,
    needs,
    serves: servability(needs, preferencesOf(request), [], []),
    weightedPrice: () => undefined,
    health,
    pinnedModel: undefined,
    random: Math.random,
  });
  return planRoute(routeOf([], { request, health, models: resolution.models, random: Math.random }));
}

const excludingAll = asking({ max_price: { prompt: 0 }, sort: { partition: 'none' } });

function modelsFrom(turn: number, count: number): Model[] {
  return Array.from({ length: count }, (_, index) => models[(turn * 31 + index) % MODELS]!);
}

function plan(request: GenerationRequest, chosen: readonly Model[], credentials: typeof byok = []): unknown {
  return planRoute(routeOf(chosen, { request, health, byok: credentials, random: Math.random }));
}

function countServable(request: GenerationRequest): number {
  const serves = servability(needsOf(request), preferencesOf(request), [], []);
  return models.filter((model) => model.endpoints.some((endpoint) => serves(endpoint, model))).length;
}

/** Microseconds a run, once it is warm: the best of many short rounds, which others on the machine disturb least. */
function measure(run: (turn: number) => unknown): number {
  const round = (forMs: number) => {
    const start = performance.now();
    let count = 0;
    while (performance.now() - start < forMs) run(count++);
    return ((performance.now() - start) * 1000) / count;
  };
  round(1000);
  return Math.min(...Array.from({ length: 100 }, () => round(5)));
}

for (const [title, run] of CASES) console.log(`${measure(run).toFixed(1).padStart(8)} µs  ${title}`);
