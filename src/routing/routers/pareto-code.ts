import type { Endpoint, Model } from '../../catalog/catalog.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, stringAt } from '../../kit/json/members.ts';
import type { HealthView } from '../health/endpoint-health.ts';
import { NoModelToChoose } from '../resolve/no-model-to-choose.ts';
import { SHARED, siteOf } from '../rules/candidate.ts';
import { custodyPools } from './custody-pools.ts';
import { type EligibleModel, eligibleModels, withEndpoints } from './eligible-models.ts';
import { overruled } from './plugin-settings.ts';
import { cheapestPromptPrice, isPromptWithin } from './prices.ts';
import { type Choice, NO_MODEL_LEFT, pinnedFirst, type Router, type RouterInput } from './router.ts';

const MAX_MODELS = 3;

interface CodingTier {
  readonly name: string;
  /** Lowest coding score of the tier. */
  readonly floor: number;
}

const LOWEST_TIER: CodingTier = { name: 'low', floor: 0 };

/** Tiers of coding scores, best first. */
const CODING_TIERS: readonly CodingTier[] = [
  { name: 'high', floor: 0.66 },
  { name: 'medium', floor: 0.33 },
  LOWEST_TIER,
];

interface Contender {
  readonly model: Model;
  readonly score: number;
  /** USD per token. */
  readonly price: number;
  /** Tokens per second of its fastest endpoint; 0 = not measured. */
  readonly speed: number;
}

type Order = (a: Contender, b: Contender) => number;

/** `<vendor>/pareto-code`: the cheapest model that codes well enough, or the fastest. */
export const paretoCodeRouter: Router = { strategy: 'pareto', plugin: 'pareto-router', choose };

function choose(input: RouterInput): Choice {
  const able = eligibleModels(input);
  if (able.length === 0) throw new NoModelToChoose(NO_MODEL_LEFT, { strategy: 'pareto' });
  const eligible = able.filter(({ model }) => model.quality.coding !== undefined);
  if (eligible.length === 0) throw new NoModelToChoose(NO_SCORE_LEFT, { strategy: 'pareto' });
  const most = numberAt(input.settings.values, 'max_price');
  return most === undefined ? chooseByTier(input, eligible) : chooseByPrice(input, eligible, most);
}

const NO_SCORE_LEFT =
  'No model that can take this request has a coding score (`quality.coding` in the configuration)';

function chooseByTier(input: RouterInput, eligible: readonly EligibleModel[]): Choice {
  const { settings } = input;
  const isFastest = wantsFastest(input);
  const priceSource = stringAt(settings.values, 'price_source') ?? 'prompt';
  const wanted = codingTierOf(numberAt(settings.values, 'min_coding_score') ?? 1);
  const { pools, note } = custodyPools(eligible, input);
  const tiers = pools.map((pool) =>
    nearestTier(wanted, contendersOf(input, pool, priceSource === 'weighted_avg')),
  );
  const tier = tiers[0]?.tier ?? wanted;
  const why = tier === wanted ? '' : `; the ${wanted.name} tier ${note === '' ? 'is empty' : 'has none'}`;
  return {
    ...chosen(
      input,
      tiers.map(({ contenders }) => contenders),
      isFastest ? FASTEST_FIRST : CHEAPEST_FIRST,
      {
        reason: `${isFastest ? 'fastest' : 'cheapest'} of the ${tier.name} tier${note}${why}`,
        data: { tier: tier.name, price_source: priceSource },
      },
    ),
    params: { quality_floor: tier.floor },
    report: isFastest ? overruled(settings, ['price_source'], 'the variant ":nitro"') : [],
  };
}

/** With a price limit, tiers are ignored: the best model within the limit. */
function chooseByPrice(input: RouterInput, eligible: readonly EligibleModel[], most: number): Choice {
  const isFastest = wantsFastest(input);
  const affordable = withEndpoints(eligible, (endpoint) => isPromptWithin(most, endpoint)).map(
    ({ model, endpoints }) => ({ model: { ...model, endpoints }, endpoints }),
  );
  const limit = `an input price of at most ${most} USD per million tokens`;
  if (affordable.length === 0) {
    throw new NoModelToChoose(`No model that can take this request has ${limit}`, {
      strategy: 'pareto',
      rule: {
        filter: 'max_price',
        reason: `it has not ${limit}`,
        rejects: (endpoint) => !isPromptWithin(most, endpoint),
      },
    });
  }
  const { pools, note } = custodyPools(affordable, input);
  const contenders = pools.map((pool) => contendersOf(input, pool, false));
  return {
    ...chosen(input, contenders, isFastest ? FASTEST_FIRST : BEST_FIRST, {
      reason: `${isFastest ? 'fastest' : 'best at coding'} of those${note} with ${limit}`,
      data: {},
    }),
    params: { max_price: most },
    report: overruled(input.settings, ['min_coding_score', 'price_source'], 'max_price'),
  };
}

function wantsFastest({ variants }: RouterInput): boolean {
  return variants.includes('nitro');
}

function contendersOf(
  { context }: RouterInput,
  eligible: readonly EligibleModel[],
  isWeighted: boolean,
): Contender[] {
  return eligible.map(({ model, endpoints }) => ({
    model,
    score: model.quality.coding ?? 0,
    price: (isWeighted ? context.weightedPrice(model.id) : undefined) ?? cheapestPromptPrice(endpoints),
    speed: fastest(endpoints, context.health),
  }));
}

function fastest(endpoints: readonly Endpoint[], health: HealthView): number {
  return endpoints.reduce(
    (speed, endpoint) => Math.max(speed, health.of(siteOf(endpoint, SHARED)).throughput?.p50 ?? 0),
    0,
  );
}

const BEST_FIRST: Order = (a, b) => b.score - a.score || a.price - b.price || byId(a, b);
const CHEAPEST_FIRST: Order = (a, b) => a.price - b.price || BEST_FIRST(a, b);
const FASTEST_FIRST: Order = (a, b) => b.speed - a.speed || CHEAPEST_FIRST(a, b);

function byId(a: Contender, b: Contender): number {
  return a.model.id < b.model.id ? -1 : 1;
}

/** The best models of each pool, pool after pool. */
function chosen(
  { context: { pinnedModel } }: RouterInput,
  pools: readonly (readonly Contender[])[],
  order: Order,
  { reason, data }: { reason: string; data: JsonObject },
): Pick<Choice, 'models' | 'pipeline'> {
  const sorted = (pool: readonly Contender[]) => [...pool].sort(order).map(({ model }) => model);
  const models = pools.flatMap((pool) => pinnedFirst(sorted(pool), pinnedModel)).slice(0, MAX_MODELS);
  const first = models[0]?.id ?? '';
  const summary =
    first === pinnedModel
      ? `${first}, which this conversation already has, is still among the choice`
      : `${first} is the ${reason}`;
  return {
    models,
    pipeline: [
      {
        type: 'plugin',
        name: 'pareto-router',
        summary,
        data: { ...data, considered: pools.flat().length, candidates: models.map(({ id }) => id) },
      },
    ],
  };
}

function codingTierOf(score: number): CodingTier {
  return CODING_TIERS.find(({ floor }) => score >= floor) ?? LOWEST_TIER;
}

/** The contenders of a tier; if it is empty, of the nearest one; at equal distance the better. */
function nearestTier(
  wanted: CodingTier,
  contenders: readonly Contender[],
): { readonly tier: CodingTier; readonly contenders: readonly Contender[] } {
  const filled = new Set(contenders.map(({ score }) => codingTierOf(score)));
  const away = (tier: CodingTier) => Math.abs(CODING_TIERS.indexOf(tier) - CODING_TIERS.indexOf(wanted));
  const tier = CODING_TIERS.filter((each) => filled.has(each)).reduce((near, each) =>
    away(each) < away(near) ? each : near,
  );
  return { tier, contenders: contenders.filter(({ score }) => codingTierOf(score) === tier) };
}
