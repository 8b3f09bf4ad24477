import type { AnalyticsMeta, AnalyticsQuery, ClassifierObject } from '../../api/contract.ts';
import type { Moments } from '../../parts/range/range.ts';

/** One filter of a question. */
export interface QuestionFilter {
  readonly field: string;
  readonly operator: string;
  /** As typed; of `in` and `not_in` separated by commas. */
  readonly value: string;
}

/** What questions can name: of the gateway, and of a classifier whose dimensions stand beside its own. */
export interface Vocabulary extends AnalyticsMeta {
  /** Null = none is chosen. */
  readonly classifier: Pick<ClassifierObject, 'id' | 'name' | 'dimensions'> | null;
}

/** The names of the gateway with those of a classifier. */
export function vocabularyOf(meta: AnalyticsMeta, classifier: Vocabulary['classifier'] = null): Vocabulary {
  const tags = (classifier?.dimensions ?? []).map(({ name }) => ({
    name,
    display_label: `${name} (${classifier?.name})`,
  }));
  return { ...meta, dimensions: [...meta.dimensions, ...tags], classifier };
}

/** Whether a dimension is one of the classifier. */
export function isTag(name: string, { classifier }: Vocabulary): boolean {
  return classifier?.dimensions.some((dimension) => dimension.name === name) === true;
}

/** What can be said of tags. */
const TAG_OPERATORS: ReadonlySet<string> = new Set(['eq', 'neq', 'in', 'not_in']);

/** The comparisons that a field has. */
export function operatorsOf(field: string, meta: Vocabulary): AnalyticsMeta['operators'] {
  return isTag(field, meta) ? meta.operators.filter(({ name }) => TAG_OPERATORS.has(name)) : meta.operators;
}

/** What the explorer asks, without its range. */
export interface Question {
  readonly metrics: readonly string[];
  readonly dimensions: readonly string[];
  /** Null = no time buckets. */
  readonly granularity: string | null;
  readonly filters: readonly QuestionFilter[];
  readonly order: { readonly field: string; readonly direction: 'asc' | 'desc' } | null;
}

export const MAX_DIMENSIONS = 2;

const DEFAULT_METRICS = ['total_usage', 'request_count'];
const DEFAULT_DIMENSIONS = ['model'];
const DEFAULT_GRANULARITY = 'day';

/** In the address: nothing chosen, where something else is the default. */
const NONE = 'none';

/** The question of an address. Names that the gateway does not have are left out. */
export function questionOf(query: URLSearchParams, meta: Vocabulary): Question {
  const metrics = listOf(query.get('metrics'), namesOf(meta.metrics)) ?? [];
  const dimensions = listOf(query.get('dimensions'), namesOf(meta.dimensions)) ?? DEFAULT_DIMENSIONS;
  const granularity = query.get('granularity') ?? DEFAULT_GRANULARITY;
  const [field = '', direction] = (query.get('order') ?? '').split('.');
  const shown = metrics.length > 0 ? metrics : DEFAULT_METRICS;
  const isOrdered = ['date', ...shown, ...dimensions].includes(field);
  return {
    metrics: shown,
    dimensions: dimensions.slice(0, MAX_DIMENSIONS),
    granularity: namesOf(meta.granularities).includes(granularity) ? granularity : null,
    filters: query.getAll('where').flatMap((text) => filterOf(text, meta) ?? []),
    order: isOrdered ? { field, direction: direction === 'asc' ? 'asc' : 'desc' } : null,
  };
}

function namesOf(named: readonly { readonly name: string }[]): readonly string[] {
  return named.map(({ name }) => name);
}

function listOf(text: string | null, known: readonly string[]): readonly string[] | null {
  if (text === null) return null;
  return [...new Set(text.split(','))].filter((name) => known.includes(name));
}

function filterOf(text: string, meta: Vocabulary): QuestionFilter | null {
  const [, field = '', operator = '', value = ''] = /^([^:]*):([^:]*):(.*)$/s.exec(text) ?? [];
  const isKnown =
    namesOf(meta.dimensions).includes(field) && namesOf(operatorsOf(field, meta)).includes(operator);
  return isKnown && value !== '' ? { field, operator, value } : null;
}

/** The query of an address with a question in it; range and others stay. */
export function withQuestion(query: URLSearchParams, question: Question): URLSearchParams {
  const { metrics, dimensions, granularity, filters, order } = question;
  const next = new URLSearchParams(query);
  for (const name of ['metrics', 'dimensions', 'granularity', 'where', 'order']) next.delete(name);
  if (metrics.join() !== DEFAULT_METRICS.join()) next.set('metrics', metrics.join(','));
  if (dimensions.join() !== DEFAULT_DIMENSIONS.join()) next.set('dimensions', dimensions.join(',') || NONE);
  if (granularity !== DEFAULT_GRANULARITY) next.set('granularity', granularity ?? NONE);
  for (const { field, operator, value } of filters) next.append('where', `${field}:${operator}:${value}`);
  if (order !== null) next.set('order', `${order.field}.${order.direction}`);
  return next;
}

/** The body of `POST /analytics/query`. */
export function bodyOf(question: Question, { fromMs, toMs }: Moments, meta: Vocabulary): AnalyticsQuery {
  const { metrics, granularity, order } = question;
  const takesList = (operator: string): boolean =>
    meta.operators.find(({ name }) => name === operator)?.value_type === 'array';
  const [tags, dimensions] = parted(question.dimensions, (name) => isTag(name, meta));
  const all = question.filters.map(({ field, operator, value }) => ({
    field,
    operator,
    value: takesList(operator) ? value.split(',').map((each) => each.trim()) : value,
  }));
  const [tagFilters, filters] = parted(all, ({ field }) => isTag(field, meta));
  return {
    metrics: [...metrics],
    ...(dimensions.length > 0 && { dimensions }),
    ...(granularity !== null && { granularity }),
    time_range: { start: new Date(fromMs).toISOString(), end: new Date(toMs).toISOString() },
    ...(filters.length > 0 && { filters }),
    // Generations without a tag count too, so that the rows add up to what was used.
    ...(tags.length > 0 && {
      classifier_dimensions: {
        classifier_id: meta.classifier?.id,
        dimension_names: tags,
        include_nulls: true,
      },
    }),
    ...(tagFilters.length > 0 && {
      classifier_filters: { classifier_id: meta.classifier?.id, filters: tagFilters },
    }),
    ...(order !== null && { order_by: { ...order } }),
  } as AnalyticsQuery;
}

/** Those that fit, and the others. */
function parted<T>(all: readonly T[], fits: (one: T) => boolean): readonly [T[], T[]] {
  return [all.filter(fits), all.filter((one) => !fits(one))];
}
