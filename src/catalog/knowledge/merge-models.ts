import { isDeepStrictEqual } from 'node:util';
import { forEachSliced, runAtOnce, type Sliced } from '../../kit/loop/turns.ts';
import { momentMs } from '../../kit/time/moment.ts';
import type { DatedPricingEntry, EndpointEntry, PricingEntry } from '../entries.ts';
import { hasFacts, type KnownEndpoint, type KnownModel, type KnownModels } from './known-model.ts';

/** How long a price that holds no more can still be asked for: longer than any request of the past is kept. */
const PRICE_RETENTION_MS = 400 * 86_400_000;

/**
 * What is known from two sources together. Of each model and each endpoint the younger knowledge wins, member by
 * member, and of the same day the one that is `given`; prices are kept with the time in which they held. A new price
 * begins on the day of its knowledge; when a price of that day is known or began no earlier, at `nowMs`, or without it
 * right after that.
 * With `nowMs`, a price that is added takes the place of those that ended so long ago that nobody asks for them.
 */
export function* mergeModelsSliced(
  known: KnownModels,
  given: Iterable<KnownModel>,
  nowMs?: number,
): Sliced<Map<string, KnownModel>> {
  const merged = new Map(known);
  yield* forEachSliced(given, (model) => {
    const before = merged.get(model.id);
    merged.set(model.id, before === undefined ? model : mergeModel(before, model, nowMs));
  });
  return merged;
}

/** The same at once. */
export function mergeModels(known: KnownModels, given: Iterable<KnownModel>): Map<string, KnownModel> {
  return runAtOnce(mergeModelsSliced(known, given));
}

function mergeModel(known: KnownModel, given: KnownModel, nowMs?: number): KnownModel {
  const tags = new Set(known.endpoints.map(({ tag }) => tag));
  return {
    ...mergeFacts(known, given),
    endpoints: [
      ...known.endpoints.map((endpoint) => {
        const other = given.endpoints.find(({ tag }) => tag === endpoint.tag);
        return other === undefined ? endpoint : mergeEndpoint(endpoint, other, nowMs);
      }),
      ...given.endpoints.filter(({ tag }) => !tags.has(tag)),
    ],
  };
}

function mergeFacts(known: KnownModel, given: KnownModel): KnownModel {
  if (!hasFacts(given)) return known;
  if (!hasFacts(known)) return { ...known, ...given };
  return isOlder(given, known) ? { ...given, ...known } : { ...known, ...given };
}

function mergeEndpoint(known: KnownEndpoint, given: KnownEndpoint, nowMs?: number): KnownEndpoint {
  const [older, younger] = isOlder(given, known) ? [given, known] : [known, given];
  return { ...older, ...younger, ...mergePrices(older, younger, nowMs) };
}

/** Whether one entry tells of an earlier day than another. */
export function isOlder(one: { readonly as_of: string }, other: { readonly as_of: string }): boolean {
  return one.as_of < other.as_of;
}

type Priced = Pick<EndpointEntry, 'pricing' | 'prices'>;

function mergePrices(older: KnownEndpoint, younger: KnownEndpoint, nowMs?: number): Priced {
  const announced = younger.prices ?? [];
  const before = older.prices ?? [];
  const kept = before.filter((dated) => begin(dated) < begin(announced[0]));
  const news = newPrice({ ...older, prices: kept }, younger, nowMs);
  const all = [...kept, ...news, ...announced].sort((one, other) => begin(one) - begin(other));
  // The data themselves may tell of any time: dropping that would make them news again the next time.
  const prices = all.length > before.length ? withoutPast(all, new Set(kept), nowMs) : all;
  return { pricing: older.pricing, ...(prices.length > 0 && { prices }) };
}

/** A history, oldest first, without those of the `droppable` prices that nobody asks for any more. */
function withoutPast(
  prices: readonly DatedPricingEntry[],
  droppable: ReadonlySet<DatedPricingEntry>,
  nowMs = Number.NEGATIVE_INFINITY,
): readonly DatedPricingEntry[] {
  const isPast = (index: number) => begin(prices[index + 1]) <= nowMs - PRICE_RETENTION_MS;
  return prices.filter((dated, index) => !droppable.has(dated) || !isPast(index));
}

/** The usual price of younger knowledge with its beginning, unless it is what holds now or was last told of that day. */
function newPrice(history: KnownEndpoint, younger: KnownEndpoint, nowMs?: number): DatedPricingEntry[] {
  const untilMs = begin(younger.prices?.[0]);
  const dayMs = momentMs(younger.as_of) ?? 0;
  const lookMs = Math.min(nowMs ?? dayMs, untilMs - 1);
  const pricing = younger.pricing ?? {};
  const lastTold = (history.prices ?? []).findLast(({ told }) => told === younger.as_of)?.pricing;
  const known = [lastTold ?? priceAt(history, dayMs), priceAt(history, lookMs)];
  const isKnown = known.some((price) => isDeepStrictEqual(pricing, price));
  if (isKnown || dayMs >= untilMs) return [];
  const lastMs = (history.prices ?? []).map(begin).findLast((fromMs) => fromMs <= Math.max(dayMs, lookMs));
  const isFirstOfDay = isOlder(history, younger) && (lastMs === undefined || dayMs > lastMs);
  if (isFirstOfDay) return [{ from: younger.as_of, pricing }];
  const fromMs = Math.max(lookMs, dayMs, lastMs === undefined ? dayMs : lastMs + 1);
  const from = new Date(fromMs).toISOString();
  return fromMs < untilMs ? [{ from, pricing, told: younger.as_of }] : [];
}

/** What an entry says was the price at a moment. */
export function priceAt({ pricing, prices }: Priced, atMs: number): PricingEntry {
  return (prices ?? []).findLast((dated) => begin(dated) <= atMs)?.pricing ?? pricing ?? {};
}

function begin(dated: DatedPricingEntry | undefined): number {
  return dated === undefined ? Number.POSITIVE_INFINITY : (momentMs(dated.from) ?? Number.POSITIVE_INFINITY);
}
