import type { Model } from '../../catalog/catalog.ts';
import type { PipelineEntry } from '../../ir/metadata.ts';
import { NoModelToChoose, type RouterRule } from '../resolve/no-model-to-choose.ts';
import { custodyPools } from './custody-pools.ts';
import { type EligibleModel, eligibleModels, withEndpoints } from './eligible-models.ts';
import { isFree } from './prices.ts';
import { type Choice, pinnedFirst, type Router, type RouterInput } from './router.ts';

const MAX_MODELS = 4;

/** `<vendor>/free`: a random free model, with its free endpoints only. */
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
    throw new NoModelToChoose('No free model can take this request', { strategy: 'free', rule: FREE_ONLY });
  }
  const { pools, note } = custodyPools(free, input);
  const models = pools
    .flatMap((pool) => pinnedFirst(inRandomOrder(pool, context.random), context.pinnedModel))
    .slice(0, MAX_MODELS);
  return { models, pipeline: note === '' ? [] : [custodyEntry(models[0]?.id ?? '', note)], report: [] };
}

/** A random choice needs no entry in the pipeline; one by custody does. */
function custodyEntry(id: string, note: string): PipelineEntry {
  return { type: 'plugin', name: 'free-router', summary: `${id} is free and${note}` };
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
