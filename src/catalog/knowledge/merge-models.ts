import { isDeepStrictEqual } from 'node:util';
import { HOSTED_PRICES } from '../../ir/hosted-use.ts';
import { forEachSliced, runAtOnce, type Sliced } from '../../kit/loop/turns.ts';
import { momentMs } from '../../kit/time/moment.ts';
import type { DatedPricingEntry, EndpointEntry, PricingEntry } from '../entries.ts';
import { hasFacts, type KnownEndpoint, type KnownModel, type KnownModels } from './known-model.ts';

/** How long an expired price is kept: longer than any request's record. */
const PRICE_RETENTION_MS = 400 * 86_400_000;

/**
 * Merges two sources. For each model and endpoint the newer entry wins, member by member; of the same day, `given`
 * wins. Prices accumulate with their start. A new price starts on the day of its entry (`as_of`); if a price of that
 * day or a later one is known already, at `nowMs`, or without `nowMs` right after that price. With `nowMs`, adding a
 * price also drops prices that expired more than PRICE_RETENTION_MS ago.
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

/** `mergeModelsSliced` without yielding. */
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

export function isOlder(one: { readonly as_of: string }, other: { readonly as_of: string }): boolean {
  return one.as_of < other.as_of;
}

type Priced = Pick<EndpointEntry, 'pricing' | 'prices'>;

function mergePrices(older: KnownEndpoint, younger: KnownEndpoint, nowMs?: number): Priced {
  const announced = younger.prices ?? [];
  const before = older.prices ?? [];
  const kept = before.filter((dated) => begin(dated) < begin(announced[0]));
  const added = newPrice({ ...older, prices: kept }, younger, nowMs);
  const all = [...kept, ...added, ...announced].sort((one, other) => begin(one) - begin(other));
  // Prices of the data are never dropped, however old: the next refresh would report them as new.
  const prices = all.length > before.length ? withoutPast(all, new Set(kept), nowMs) : all;
  const { pricing } = older;
  return { ...(pricing !== undefined && { pricing }), ...(prices.length > 0 && { prices }) };
}

/** Removes `droppable` prices that expired more than PRICE_RETENTION_MS ago from a history, oldest first. */
function withoutPast(
  prices: readonly DatedPricingEntry[],
  droppable: ReadonlySet<DatedPricingEntry>,
  nowMs = Number.NEGATIVE_INFINITY,
): readonly DatedPricingEntry[] {
  const isPast = (index: number) => begin(prices[index + 1]) <= nowMs - PRICE_RETENTION_MS;
  return prices.filter((dated, index) => !droppable.has(dated) || !isPast(index));
}

/** The newer entry's regular price with its start; none if it holds already or was the last report of that day. */
function newPrice(history: KnownEndpoint, younger: KnownEndpoint, nowMs?: number): DatedPricingEntry[] {
  // The new price holds until the first announced one.
  const untilMs = begin(younger.prices?.[0]);
  const dayMs = momentMs(younger.as_of) ?? 0;
  const comparedAtMs = Math.min(nowMs ?? dayMs, untilMs - 1);
  const pricing = withToolPrices(younger.pricing ?? {}, priceAt(history, comparedAtMs));
  const lastTold = (history.prices ?? []).findLast(({ told }) => told === younger.as_of)?.pricing;
  const known = [lastTold ?? priceAt(history, dayMs), priceAt(history, comparedAtMs)];
  const isKnown = known.some((price) => isDeepStrictEqual(pricing, price));
  if (isKnown || dayMs >= untilMs) return [];
  const lastMs = (history.prices ?? [])
    .map(begin)
    .findLast((fromMs) => fromMs <= Math.max(dayMs, comparedAtMs));
  const isFirstOfDay = isOlder(history, younger) && (lastMs === undefined || dayMs > lastMs);
  if (isFirstOfDay) return [{ from: younger.as_of, pricing }];
  const fromMs = Math.max(comparedAtMs, dayMs, lastMs === undefined ? dayMs : lastMs + 1);
  const from = new Date(fromMs).toISOString();
  return fromMs < untilMs ? [{ from, pricing, told: younger.as_of }] : [];
}

/**
 * Newer prices, with the older ones of tools that the upstream runs where the newer data have none: most lists leave
 * them out, and without them keys that a limit covers could not have the tools any more.
 */
function withToolPrices(newer: PricingEntry, older: PricingEntry): PricingEntry {
  const kept = TOOL_PRICES.filter((name) => older[name] !== undefined && newer[name] === undefined);
  if (kept.length === 0) return newer;
  const { overrides, ...prices } = newer;
  return {
    ...prices,
    ...Object.fromEntries(kept.map((name) => [name, older[name]])),
    ...(overrides !== undefined && { overrides }),
  };
}

const TOOL_PRICES = ['web_search', ...HOSTED_PRICES] as const;

export function priceAt({ pricing, prices }: Priced, atMs: number): PricingEntry {
  return (prices ?? []).findLast((dated) => begin(dated) <= atMs)?.pricing ?? pricing ?? {};
}

function begin(dated: DatedPricingEntry | undefined): number {
  return dated === undefined ? Number.POSITIVE_INFINITY : (momentMs(dated.from) ?? Number.POSITIVE_INFINITY);
}
