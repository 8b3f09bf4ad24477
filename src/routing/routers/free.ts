import type { Model } from '../../catalog/catalog.ts';
import type { PipelineEntry } from '../../ir/metadata.ts';
import { NothingToChoose, type RouterRule } from '../resolve/no-model-to-choose.ts';
import { custodyPools } from './custody-pools.ts';
import { type EligibleModel, eligibleModels, withEndpoints } from './eligible-models.ts';
import { isFree } from './prices.ts';
import { type Choice, pinnedFirst, type Router, type RouterInput } from './router.ts';

const MOST_MODELS = 4;

/** `<vendor>/free`: a model that costs nothing, by chance. Endpoints that cost something are left out. */
export const freeRouter: Router = { strategy: 'free', choose };

const FREE_ONLY: RouterRule = {
  filter: 'free',
  reason: 'it costs something',
  rejects: (endpoint) => !isFree(endpoint),
};

function choose(input: RouterInput): Choice {
  const { context } = input;
  const free = withEndpoints(eligibleModels(input), isFree);
  if (free.length === 0) {
    throw new NothingToChoose('No free model can take this request', { strategy: 'free', rule: FREE_ONLY });
  }
  const { pools, merit } = custodyPools(free, input);
  const models = pools
    .flatMap((pool) => pinnedFirst(inRandomOrder(pool, context.random), context.pinnedModel))
    .slice(0, MOST_MODELS);
  return { models, pipeline: merit === '' ? [] : [custodyEntry(models[0]?.id ?? '', merit)], report: [] };
}

/** Chance needs no explanation, custody does. */
function custodyEntry(id: string, merit: string): PipelineEntry {
  return { type: 'plugin', name: 'free-router', summary: `${id} is free and${merit}` };
}

function inRandomOrder(pool: readonly EligibleModel[], random: () => number): Model[] {
  return shuffled(pool, random).map(({ model, endpoints }) => ({ ...model, endpoints }));
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const left = [...items];
  const drawn: T[] = [];
  while (left.length > 0) drawn.push(...left.splice(Math.floor(random() * left.length), 1));
  return drawn;
}
