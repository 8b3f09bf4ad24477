import { NothingToChoose } from '../resolve/nothing-to-choose.ts';
import { eligibleModels, withEndpoints } from './eligible-models.ts';
import { isFree } from './prices.ts';
import { type Choice, pinnedFirst, type Router, type RouterInput } from './router.ts';

const MOST_MODELS = 4;

/** `<vendor>/free`: a model that costs nothing, by chance. Endpoints that cost something are left out. */
export const freeRouter: Router = { strategy: 'free', choose };

function choose(input: RouterInput): Choice {
  const { context } = input;
  const free = eligibleModels(input).flatMap(({ model, endpoints }) =>
    withEndpoints(model, endpoints, isFree),
  );
  if (free.length === 0) {
    throw new NothingToChoose('free', 'No free model can take this request');
  }
  const models = shuffled(free, context.random).map(({ model, endpoints }) => ({ ...model, endpoints }));
  return {
    models: pinnedFirst(models, context.pinnedModel).slice(0, MOST_MODELS),
    pipeline: [],
    report: [],
  };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const left = [...items];
  const drawn: T[] = [];
  while (left.length > 0) drawn.push(...left.splice(Math.floor(random() * left.length), 1));
  return drawn;
}
