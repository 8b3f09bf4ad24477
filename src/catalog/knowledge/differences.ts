import { isDeepStrictEqual } from 'node:util';
import { PRICE_NAMES } from '../../config/schema/price-names.ts';
import { forEachSliced, type Sliced } from '../../kit/loop/turns.ts';
import type { PricingEntry } from '../entries.ts';
import type { KnownEndpoint, KnownModel, KnownModels } from './known-model.ts';

/** One change that new data make. `old` or `new` is null if there is no value. */
export type Difference =
  | { readonly kind: 'model-added'; readonly model: string }
  | { readonly kind: 'model-gone'; readonly model: string }
  | ({ readonly kind: 'model-changed'; readonly model: string } & Change)
  | { readonly kind: 'endpoint-added'; readonly model: string; readonly tag: string }
  | ({ readonly kind: 'endpoint-changed'; readonly model: string; readonly tag: string } & Change)
  | ({ readonly kind: 'price'; readonly model: string; readonly tag: string; readonly from: string } & Change)
  /** Missing from the data; kept unless pruned. */
  | { readonly kind: 'gone'; readonly model: string; readonly tag: string; readonly pruned: boolean }
  /** The data are older than the known entry, which stays. */
  | { readonly kind: 'outdated'; readonly model: string; readonly tag: string };

export interface Change {
  readonly member: string;
  readonly old: unknown;
  readonly new: unknown;
}

/** Members that are not compared: keys, origin, and prices, which are compared separately. */
const NOT_FACTS: ReadonlySet<string> = new Set([
  'id',
  'tag',
  'endpoints',
  'as_of',
  'source',
  'pricing',
  'prices',
]);

/** All changes from `before` to `after`, except removed endpoints, which the caller reports itself. */
export function* differencesBetween(before: KnownModels, after: KnownModels): Sliced<Difference[]> {
  const differences: Difference[] = [];
  yield* forEachSliced(before.keys(), (model) => {
    if (!after.has(model)) differences.push({ kind: 'model-gone', model });
  });
  yield* forEachSliced(after.values(), (model) => {
    const known = before.get(model.id);
    if (known !== model) differences.push(...modelDifferences(known, model));
  });
  return differences;
}

function modelDifferences(before: KnownModel | undefined, after: KnownModel): Difference[] {
  const model = after.id;
  return [
    ...(before === undefined
      ? [{ kind: 'model-added' as const, model }]
      : changesBetween(before, after).map((change) => ({
          kind: 'model-changed' as const,
          model,
          ...change,
        }))),
    ...after.endpoints.flatMap((endpoint) => {
      const known = before?.endpoints.find(({ tag }) => tag === endpoint.tag);
      return endpointDifferences(known, endpoint, model);
    }),
  ];
}

function endpointDifferences(
  before: KnownEndpoint | undefined,
  after: KnownEndpoint,
  model: string,
): Difference[] {
  const { tag } = after;
  if (before === undefined) return [{ kind: 'endpoint-added', model, tag }];
  return [
    ...changesBetween(before, after).map((change) => ({
      kind: 'endpoint-changed' as const,
      model,
      tag,
      ...change,
    })),
    ...priceDifferences(before, after).map((change) => ({ kind: 'price' as const, model, tag, ...change })),
  ];
}

function priceDifferences(before: KnownEndpoint, after: KnownEndpoint): (Change & { from: string })[] {
  const prices = after.prices ?? [];
  return prices.flatMap(({ from, pricing }, index) => {
    const isKnown = (before.prices ?? []).some(
      (dated) => dated.from === from && isDeepStrictEqual(dated.pricing, pricing),
    );
    const previous = prices[index - 1]?.pricing ?? after.pricing ?? {};
    return isKnown ? [] : changedPrices(previous, pricing).map((change) => ({ ...change, from }));
  });
}

function changedPrices(before: PricingEntry, after: PricingEntry): Change[] {
  return [...PRICE_NAMES, 'overrides']
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .map((member) => ({ member, old: before[member] ?? null, new: after[member] ?? null }));
}

function changesBetween(before: object, after: object): Change[] {
  const old = new Map(Object.entries(before));
  return Object.entries(after)
    .filter(([member, value]) => !NOT_FACTS.has(member) && !isDeepStrictEqual(value, old.get(member)))
    .map(([member, value]) => ({ member, old: old.get(member) ?? null, new: value }));
}
