import { PRICE_NAMES, type PriceName } from '../../config/schema/price-names.ts';
import { forEachSliced, type Sliced } from '../../kit/loop/turns.ts';
import { parsePrice } from '../../kit/money.ts';
import { momentMs } from '../../kit/time/moment.ts';
import type { Endpoint, Model, PriceList, Pricing, PricingOverride } from '../catalog.ts';
import type { EndpointEntry, PricingEntry } from '../entries.ts';

/** The prices of an endpoint at a time (epoch milliseconds) for a prompt of this length. */
export function pricingAt(
  { pricing, priceLists }: Pick<Endpoint, 'pricing' | 'priceLists'>,
  atMs: number,
  promptTokens = 0,
): Pricing {
  if (priceLists === undefined) return pricing;
  const list = listAt(priceLists, atMs);
  return list === undefined ? pricing : ofLength(list, promptTokens);
}

/** All prices that may apply at a time to a prompt of at most `promptTokens`. */
export function pricingsUpTo(
  { pricing, priceLists }: Pick<Endpoint, 'pricing' | 'priceLists'>,
  atMs: number,
  promptTokens: number,
): readonly Pricing[] {
  const list = priceLists && listAt(priceLists, atMs);
  if (list === undefined) return [pricing];
  const reached = list.overrides.filter(({ minPromptTokens }) => minPromptTokens <= promptTokens);
  return [list.pricing, ...reached.map(({ minPromptTokens }) => ofLength(list, minPromptTokens))];
}

export function listAt(lists: readonly PriceList[], atMs: number): PriceList | undefined {
  return lists.findLast(({ fromMs }) => fromMs <= atMs) ?? lists[0];
}

/** Start of the next price list after a time; undefined if there is none. */
export function* nextChangeMs(models: readonly Model[], afterMs: number): Sliced<number | undefined> {
  let next = Number.POSITIVE_INFINITY;
  yield* forEachSliced(models, ({ endpoints }) => {
    for (const { priceLists = [] } of endpoints) {
      for (const { fromMs } of priceLists) if (fromMs > afterMs && fromMs < next) next = fromMs;
    }
  });
  return next === Number.POSITIVE_INFINITY ? undefined : next;
}

/** All lists of an entry, oldest first. Never empty. */
export function priceListsOf({ pricing, prices }: Pick<EndpointEntry, 'pricing' | 'prices'>): PriceList[] {
  return [
    priceListOf(Number.NEGATIVE_INFINITY, pricing ?? {}),
    ...(prices ?? []).map((dated) => priceListOf(momentMs(dated.from) ?? 0, dated.pricing)),
  ];
}

function priceListOf(fromMs: number, entry: PricingEntry): PriceList {
  const overrides = Array.isArray(entry.overrides) ? (entry.overrides as PricingEntry[]) : [];
  return { fromMs, pricing: pricingOf(entry), overrides: overrides.map(overrideOf) };
}

function overrideOf(entry: PricingEntry): PricingOverride {
  return { minPromptTokens: Number(entry.min_prompt_tokens), pricing: pricingOf(entry) };
}

function pricingOf(entry: PricingEntry): Pricing {
  const pricing: Partial<Record<PriceName, bigint>> = {};
  for (const name of PRICE_NAMES) {
    const text = entry[name];
    const price = typeof text === 'string' ? parsePrice(text) : undefined;
    if (price !== undefined) pricing[name] = price;
  }
  return pricing;
}

function ofLength({ pricing, overrides }: PriceList, promptTokens: number): Pricing {
  const applying = overrides.filter(({ minPromptTokens }) => promptTokens >= minPromptTokens);
  if (applying.length === 0) return pricing;
  return Object.assign({}, pricing, ...applying.map((override) => override.pricing));
}
