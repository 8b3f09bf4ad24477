import { isDeepStrictEqual } from 'node:util';
import { momentMs } from '../config/moment.ts';
import type { DatedPricingEntry, EndpointEntry, PricingEntry } from './entries.ts';
import { hasFacts, type KnownEndpoint, type KnownModel, type KnownModels } from './known-model.ts';

/**
 * What is known from two sources together. Of each model and each endpoint the younger knowledge wins, member by
 * member, and of the same day the one that is `given`; prices are kept with the time in which they held. A new price
 * begins on the day of its knowledge; when an older price began no earlier, at `nowMs`, or without it right after that.
 */
export function mergeModels(
  known: KnownModels,
  given: readonly KnownModel[],
  nowMs?: number,
): Map<string, KnownModel> {
  const merged = new Map(known);
  for (const model of given) {
    const before = merged.get(model.id);
    merged.set(model.id, before === undefined ? model : mergeModel(before, model, nowMs));
  }
  return merged;
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

function mergePrices(older: Priced, younger: KnownEndpoint, nowMs?: number): Priced {
  const announced = younger.prices ?? [];
  const kept = (older.prices ?? []).filter((dated) => begin(dated) < begin(announced[0]));
  const news = newPrice({ pricing: older.pricing, prices: kept }, younger, nowMs);
  const prices = [...kept, ...news, ...announced].sort((one, other) => begin(one) - begin(other));
  return { pricing: older.pricing, ...(prices.length > 0 && { prices }) };
}

/** The usual price of younger knowledge with its beginning, unless it is what held on that day or holds now. */
function newPrice(history: Priced, younger: KnownEndpoint, nowMs?: number): DatedPricingEntry[] {
  const untilMs = begin(younger.prices?.[0]);
  const dayMs = momentMs(younger.as_of) ?? 0;
  const lookMs = Math.min(nowMs ?? dayMs, untilMs - 1);
  const pricing = younger.pricing ?? {};
  const isKnown = [dayMs, lookMs].some((atMs) => isDeepStrictEqual(pricing, priceAt(history, atMs)));
  if (isKnown || dayMs >= untilMs) return [];
  const lastMs = (history.prices ?? []).map(begin).findLast((fromMs) => fromMs <= Math.max(dayMs, lookMs));
  if (lastMs === undefined || dayMs > lastMs) return [{ from: younger.as_of, pricing }];
  const fromMs = Math.max(lookMs, lastMs + 1);
  return fromMs < untilMs ? [{ from: new Date(fromMs).toISOString(), pricing }] : [];
}

/** What an entry says was the price at a moment. */
export function priceAt({ pricing, prices }: Priced, atMs: number): PricingEntry {
  return (prices ?? []).findLast((dated) => begin(dated) <= atMs)?.pricing ?? pricing ?? {};
}

function begin(dated: DatedPricingEntry | undefined): number {
  return dated === undefined ? Number.POSITIVE_INFINITY : (momentMs(dated.from) ?? Number.POSITIVE_INFINITY);
}
