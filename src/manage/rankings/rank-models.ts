import type { RankingsDailyQuery } from '../../contract/analytics/dataset-rankings-daily.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { Shortlist } from '../../kit/collections/shortlist.ts';
import { forEachSliced, type Sliced } from '../../kit/loop/turns.ts';
import { boundsAt, type ResetWindow } from '../../kit/time/windows.ts';
import { MODALITIES, type Modality, modalitiesText } from '../../ports/events/event-names.ts';
import type { DayWindow, EventFilter, EventRow } from '../../ports/events/events.ts';

export interface RankedModel {
  readonly periodMs: number;
  /** Permanent slug; `other` for the sum of all models below the first 50. */
  readonly model: string;
  readonly tokens: bigint;
}

const MAX_NAMED_MODELS = 50;

const OTHER = 'other';

/** Sorts rows of model and tokens by period, then by tokens descending; `other` comes last. */
export function* rankModels(rows: readonly EventRow[]): Sliced<RankedModel[]> {
  const periods = new Map<number, RankedPeriod>();
  yield* forEachSliced(rows, ({ bucketMs, dimensions, metrics }) => {
    const model = dimensions[0];
    const tokens = BigInt(metrics[0] ?? 0);
    if (bucketMs === null || typeof model !== 'string' || tokens === 0n) return;
    const period = periods.get(bucketMs) ?? { named: new Shortlist(MAX_NAMED_MODELS, byTokens), tokens: 0n };
    period.named.add({ periodMs: bucketMs, model, tokens });
    period.tokens += tokens;
    periods.set(bucketMs, period);
  });
  return [...periods].sort(([one], [other]) => one - other).flatMap(([, period]) => rankedModels(period));
}

interface RankedPeriod {
  readonly named: Shortlist<RankedModel>;
  tokens: bigint;
}

function rankedModels({ named: { members }, tokens: all }: RankedPeriod): readonly RankedModel[] {
  const rest = members.reduce((left, { tokens }) => left - tokens, all);
  const periodMs = members[0]?.periodMs;
  return rest === 0n || periodMs === undefined
    ? members
    : [...members, { periodMs, model: OTHER, tokens: rest }];
}

function byTokens(one: RankedModel, other: RankedModel): number {
  if (one.tokens !== other.tokens) return one.tokens > other.tokens ? -1 : 1;
  return one.model < other.model ? -1 : 1;
}

type Period = NonNullable<RankingsDailyQuery['period']>;

const WINDOWS: Readonly<Record<Period, ResetWindow>> = { day: 'daily', week: 'weekly', month: 'monthly' };

/** Periods per query: bounds the rows of one answer, so that the event loop is not blocked. */
const PERIODS_PER_QUERY = 32;

/** Splits a window into one window per query, at bounds of periods. */
export function* queryWindows({ startMs, endMs }: DayWindow, period: Period): Generator<DayWindow> {
  let end = startMs;
  while (end < endMs) {
    const begin = end;
    for (let count = 0; count < PERIODS_PER_QUERY && end < endMs; count++) {
      end = boundsAt(WINDOWS[period], end).endMs;
    }
    end = Math.min(end, endMs);
    yield { startMs: begin, endMs: end };
  }
}

/** True if a query filters by category or language. Throws 400 if that is combined with filters it excludes. */
export function filtersByContent(query: RankingsDailyQuery): boolean {
  const [filter, ...others] = CONTENT_FILTERS.filter((name) => query[name] !== undefined);
  if (filter === undefined) return false;
  const excluded = others[0] ?? OTHER_FILTERS.find((name) => query[name] !== undefined);
  if (excluded !== undefined) {
    throw invalidRequest([{ path: excluded, message: `cannot be given together with ${filter}` }]);
  }
  if ((query.period ?? 'day') === 'day') {
    throw invalidRequest([{ path: 'period', message: `must be week or month together with ${filter}` }]);
  }
  return true;
}

/** Filters by content, and those that they exclude. */
const CONTENT_FILTERS = ['category', 'language_type'] as const;
const OTHER_FILTERS = ['modality', 'context_bucket'] as const;

/** The filters of a query. Requests with zero data retention are always excluded. */
export function modelFilters({ modality, context_bucket }: RankingsDailyQuery): EventFilter[] {
  return [
    only('zdr', ['false']),
    ...(modality === undefined ? [] : [only('modalities', MODALITY_TEXTS[modality])]),
    ...(context_bucket === undefined ? [] : [only('context_length_bucket', [context_bucket])]),
  ];
}

function only(field: EventFilter['field'], values: readonly string[]): EventFilter {
  return { field, operator: 'in', values, includesUnset: false };
}

/** All subsets of MODALITIES; bit n of the index = MODALITIES[n] is included. */
const SETS: readonly (readonly Modality[])[] = Array.from({ length: 2 ** MODALITIES.length }, (_, bits) =>
  MODALITIES.filter((_, place) => (bits & (1 << place)) !== 0),
);

const NO_TEXT: ReadonlySet<Modality> = new Set(['image', 'image_output', 'audio']);

const textsWhere = (holds: (set: readonly Modality[]) => boolean) =>
  SETS.filter(holds).map((set) => modalitiesText(Object.fromEntries(set.map((name) => [name, true]))));

/** For each modality of a query: the values of an event's `modalities` that match it. */
const MODALITY_TEXTS: Readonly<Record<Modality | 'text', readonly string[]>> = {
  text: textsWhere((set) => !set.some((modality) => NO_TEXT.has(modality))),
  image: textsWhere((set) => set.includes('image')),
  image_output: textsWhere((set) => set.includes('image_output')),
  audio: textsWhere((set) => set.includes('audio')),
  tool_calling: textsWhere((set) => set.includes('tool_calling')),
};
