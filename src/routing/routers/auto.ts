import type { Catalog } from '../../catalog/catalog.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { booleanAt, numberAt, stringAt, stringsAt } from '../../kit/json/members.ts';
import { countText } from '../../kit/text/count-text.ts';
import { anyGlob } from '../../kit/text/glob.ts';
import { NoModelToChoose } from '../resolve/no-model-to-choose.ts';
import type { ResolutionContext } from '../resolve/resolution.ts';
import { classifyTask, type Task } from './classify-task.ts';
import { custodyPools } from './custody-pools.ts';
import { type EligibleModel, eligibleModels } from './eligible-models.ts';
import { overruled, type PluginSettings } from './plugin-settings.ts';
import { cheapestTokenPrice } from './prices.ts';
import { type Choice, NO_MODEL_LEFT, pinnedFirst, type Router, type RouterInput } from './router.ts';

const DEFAULT_TRADEOFF = 7;
const MAX_MODELS = 5;

interface PriceBand {
  readonly from: number;
  readonly to: number;
  /** `to` is included. */
  readonly isClosed: boolean;
}

const COST_TIERS: Readonly<Record<string, PriceBand>> = {
  low: { from: 0, to: 20, isClosed: false },
  medium: { from: 20, to: 40, isClosed: false },
  high: { from: 40, to: 60, isClosed: false },
  xhigh: { from: 60, to: 80, isClosed: false },
  max: { from: 80, to: 100, isClosed: true },
};

interface Contender extends EligibleModel {
  /** Score for the task; undefined = none. */
  readonly quality: number | undefined;
  readonly price: number;
  /** Price percentile among all contenders: 0 = the cheapest, 100 = the most expensive. */
  readonly percentile: number;
}

/** `<vendor>/auto`: the best model for the task within the price range. */
export function autoRouter(plugin: string): Router {
  return { strategy: 'auto', plugin, choose: (input) => choose(input, plugin) };
}

function choose(input: RouterInput, plugin: string): Choice {
  const { request, context, settings } = input;
  const isAllowed = allowedModels(settings, context);
  const eligible = eligibleModels(input, isAllowed);
  if (eligible.length === 0) {
    throw new NoModelToChoose(NO_MODEL_LEFT, {
      strategy: 'auto',
      rule: {
        filter: 'allowed_models',
        reason: 'the router may not choose the model',
        rejects: (_, { id }) => !isAllowed(id),
      },
    });
  }
  const task = classifyTask(request, context.needs);
  const contenders = inPriceOrder(eligible, task);
  const band = bandOf(settings);
  const { pools, note } = custodyPools(contenders, input);
  const kept = pools.map((pool) => inQualityOrder(insideOrNearest(pool, band)));
  const pinned = booleanAt(settings.values, 'pin_model') === false ? undefined : context.pinnedModel;
  const models = kept
    .flatMap((pool) =>
      pinnedFirst(
        pool.map(({ model }) => model),
        pinned,
      ),
    )
    .slice(0, MAX_MODELS);
  const [pool = []] = kept;
  const first = pool.find(({ model }) => model === models[0]) ?? pool[0];
  const isPinned = models[0]?.id === pinned;
  return {
    models,
    pipeline: [
      {
        type: 'plugin',
        name: plugin,
        summary: summaryOf({ task, first, kept: pool.length, band, note, isPinned }),
        data: {
          task_type: task.type,
          ...signalData(task),
          considered: contenders.length,
          candidates: models.map(({ id }) => id),
          price_percentile_limit: band.to,
        },
      },
    ],
    report:
      stringAt(settings.values, 'cost_tier') === undefined
        ? []
        : overruled(settings, ['cost_quality_tradeoff'], 'cost_tier'),
  };
}

/** Ascending by price; at equal prices the better model first. */
function inPriceOrder(eligible: readonly EligibleModel[], { quality: name }: Task): Contender[] {
  const last = Math.max(eligible.length - 1, 1);
  return eligible
    .map(({ model, endpoints }) => ({
      model,
      endpoints,
      quality: model.quality[name],
      price: cheapestTokenPrice(endpoints),
    }))
    .sort((a, b) => a.price - b.price || byQuality(a, b) || byId(a, b))
    .map(({ model, endpoints, quality, price }, index) => ({
      model,
      endpoints,
      quality,
      price,
      percentile: (100 * index) / last,
    }));
}

function inQualityOrder(contenders: readonly Contender[]): Contender[] {
  return [...contenders].sort((a, b) => byQuality(a, b) || a.price - b.price || byId(a, b));
}

/** A model without a score comes after all that have one. */
function byQuality(a: Pick<Contender, 'quality'>, b: Pick<Contender, 'quality'>): number {
  return (b.quality ?? -1) - (a.quality ?? -1);
}

function byId(a: EligibleModel, b: EligibleModel): number {
  return a.model.id < b.model.id ? -1 : 1;
}

function bandOf({ values }: PluginSettings): PriceBand {
  const tier = stringAt(values, 'cost_tier');
  const band = tier === undefined ? undefined : COST_TIERS[tier];
  const tradeoff = numberAt(values, 'cost_quality_tradeoff') ?? DEFAULT_TRADEOFF;
  return band ?? { from: 0, to: 100 - 10 * tradeoff, isClosed: true };
}

/** The contenders inside the band; if there are none, the nearest one. */
function insideOrNearest(contenders: readonly Contender[], band: PriceBand): readonly Contender[] {
  const inside = contenders.filter(({ percentile }) => distance(percentile, band) === 0);
  if (inside.length > 0) return inside;
  const nearest = contenders.reduce((best, contender) =>
    distance(contender.percentile, band) < distance(best.percentile, band) ? contender : best,
  );
  return [nearest];
}

function distance(percentile: number, { from, to, isClosed }: PriceBand): number {
  if (percentile < from) return from - percentile;
  if (percentile > to) return percentile - to;
  // The excluded upper end is outside, but nearer than any higher percentile.
  return percentile === to && !isClosed ? Number.EPSILON : 0;
}

function signalData({ signals, points }: Task): JsonObject {
  return {
    prompt_tokens: signals.promptTokens,
    code: signals.code.map(({ name }) => name),
    tools: signals.tools,
    modalities: [...signals.modalities],
    script: signals.script,
    reasoning: signals.isReasoningWanted,
    points: { ...points },
  };
}

interface ChoiceFacts {
  readonly task: Task;
  readonly first: Contender | undefined;
  /** Number of models it was chosen from. */
  readonly kept: number;
  readonly band: PriceBand;
  /** The note of `custodyPools`. */
  readonly note: string;
  readonly isPinned: boolean;
}

function summaryOf({ task, first, kept, band, note, isPinned }: ChoiceFacts): string {
  const choice = `${task.type} task: ${first?.model.id ?? ''}`;
  const { from, to } = band;
  const prices = from === 0 ? `up to price percentile ${to}` : `from price percentile ${from} to ${to}`;
  const range = `of ${countText(kept, 'model')} ${prices}${note}`;
  if (isPinned) return `${choice}, which this conversation already has, is still one ${range}`;
  if (first !== undefined && distance(first.percentile, band) > 0) {
    return `${choice} is at price percentile ${Math.round(first.percentile)}; there is no model ${prices}${note}`;
  }
  return first?.quality === undefined
    ? `${choice} is the cheapest ${range}; none has a ${task.quality} score`
    : `${choice} has the best ${task.quality} score (${first.quality}) ${range}`;
}

type ModelTest = (id: string) => boolean;

/**
 * Returns the test whether the auto-router may choose a model: the configuration and the request allow it, and the
 * request does not exclude it.
 */
function allowedModels({ values }: PluginSettings, { autoModels, catalog }: ResolutionContext): ModelTest {
  const isOffered = anyOf(autoModels, catalog) ?? (() => true);
  const isWanted = anyOf(stringsAt(values, 'allowed_models'), catalog) ?? (() => true);
  const isUnwanted = anyOf(stringsAt(values, 'excluded_models'), catalog) ?? (() => false);
  return (id) => isOffered(id) && isWanted(id) && !isUnwanted(id);
}

/** Returns the test whether a pattern matches; one without a star may be an alias. Undefined if there is no list. */
function anyOf(patterns: readonly string[] | undefined, catalog: Catalog): ModelTest | undefined {
  if (patterns === undefined) return undefined;
  const exact = new Set<string>();
  const open: string[] = [];
  for (const pattern of patterns) {
    if (pattern.includes('*')) open.push(pattern);
    else exact.add(catalog.resolve(pattern)?.id ?? pattern);
  }
  const fitsOpen = anyGlob(open);
  return (id) => exact.has(id) || fitsOpen(id);
}
