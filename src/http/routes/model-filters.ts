import type { Model } from '../../catalog/catalog.ts';
import type { PriceName } from '../../config/schema/price-names.ts';
import type { ModelSort, ModelsQuery } from '../../contract/catalog/models-query.ts';
import { formatPrice } from '../../kit/money.ts';
import { parametersOf } from './catalog-objects.ts';

const DAY_MS = 86_400_000;

type Filters = {
  readonly [Name in keyof ModelsQuery]?: (
    model: Model,
    wanted: NonNullable<ModelsQuery[Name]>,
    nowMs: number,
  ) => boolean;
};

/** One test per filter of the query; names without one (`limit`, `sort`, ...) do not filter. */
const FILTERS: Filters = {
  q: (model, text) =>
    [model.id, model.name, model.description].some((field) =>
      field.toLowerCase().includes(text.trim().toLowerCase()),
    ),
  supported_parameters: (model, names) => includesAll(parametersOf(model), names),
  input_modalities: (model, names) => includesAll(model.inputModalities, names),
  output_modalities: (model, names) =>
    names.includes('all') || names.some((name) => model.outputModalities.includes(name)),
  context: (model, least) => (model.contextLength ?? 0) >= least,
  min_price: (model, least) => dollarsPerMillion(model, 'prompt') >= least,
  max_price: (model, most) => dollarsPerMillion(model, 'prompt') <= most,
  min_output_price: (model, least) => dollarsPerMillion(model, 'completion') >= least,
  max_output_price: (model, most) => dollarsPerMillion(model, 'completion') <= most,
  model_authors: (model, authors) => authors.includes(model.id.split('/', 1)[0] ?? ''),
  providers: (model, wanted) =>
    model.endpoints.some(({ provider }) => wanted.includes(provider.slug) || wanted.includes(provider.name)),
  distillable: (model, wanted) => model.distillable === wanted,
  zdr: (model, wanted) => hasZeroRetention(model) === wanted,
  min_age_days: (model, least, nowMs) => ageDays(model, nowMs) >= least,
  max_age_days: (model, most, nowMs) => ageDays(model, nowMs) <= most,
};

const ORDERS: Readonly<Record<ModelSort, (left: Model, right: Model) => number>> = {
  newest: (left, right) => right.created - left.created,
  'pricing-low-to-high': (left, right) =>
    dollarsPerMillion(left, 'prompt') - dollarsPerMillion(right, 'prompt'),
  'pricing-high-to-low': (left, right) =>
    dollarsPerMillion(right, 'prompt') - dollarsPerMillion(left, 'prompt'),
  'context-high-to-low': (left, right) => (right.contextLength ?? 0) - (left.contextLength ?? 0),
};

/**
 * The models that a query asks for, in its order; models that only make other things than text are left out unless
 * asked for.
 */
export function filterModels(models: readonly Model[], query: ModelsQuery, nowMs: number): readonly Model[] {
  const wanted: ModelsQuery = { output_modalities: ['text'], ...query };
  const tests = Object.entries(wanted).flatMap(([name, value]) => {
    const test = FILTERS[name as keyof ModelsQuery] as
      | ((model: Model, wanted: unknown, nowMs: number) => boolean)
      | undefined;
    return test === undefined ? [] : [(model: Model) => test(model, value, nowMs)];
  });
  const matching = models.filter((model) => tests.every((test) => test(model)));
  return query.sort === undefined ? matching : matching.sort(ORDERS[query.sort]);
}

function includesAll(values: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((value) => values.includes(value));
}

function dollarsPerMillion(model: Model, name: PriceName): number {
  return Number(formatPrice((model.endpoints[0]?.pricing[name] ?? 0n) * 1_000_000n));
}

/** An unknown policy counts as keeping everything. */
function hasZeroRetention(model: Model): boolean {
  return model.endpoints.some(({ provider: { dataPolicy } }) => {
    return dataPolicy !== undefined && !dataPolicy.training && !dataPolicy.retainsPrompts;
  });
}

function ageDays(model: Model, nowMs: number): number {
  return (nowMs - model.created * 1000) / DAY_MS;
}
