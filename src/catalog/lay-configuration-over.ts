import { forEachSliced, type Sliced } from '../kit/loop/turns.ts';
import { tagOf } from './build-model.ts';
import type { EndpointEntry, ModelEntry } from './entries.ts';

/**
 * Overlays the configured models on the known ones, member by member; configured members win. The two scores of
 * `quality` are members of their own, `reasoning` is one. Configured endpoints come first. An id or alias that the
 * configuration uses always means the configured model.
 */
export function* layConfigurationOver(
  known: readonly ModelEntry[],
  own: readonly ModelEntry[],
): Sliced<readonly ModelEntry[]> {
  const taken = new Set(own.flatMap(({ id, aliases }) => [id, ...(aliases ?? [])]));
  const knownById = new Map<string, ModelEntry>();
  const others: ModelEntry[] = [];
  yield* forEachSliced(known, (model) => {
    knownById.set(model.id, model);
    if (taken.has(model.id)) return;
    others.push({ ...model, aliases: (model.aliases ?? []).filter((alias) => !taken.has(alias)) });
  });
  return [...own.map((model) => layModelOver(knownById.get(model.id), model, taken)), ...others];
}

function layModelOver(
  known: ModelEntry | undefined,
  own: ModelEntry,
  taken: ReadonlySet<string>,
): ModelEntry {
  if (known === undefined) return own;
  const aliases = own.aliases ?? (known.aliases ?? []).filter((alias) => !taken.has(alias));
  const quality = { ...known.quality, ...given(own.quality ?? {}) };
  const endpoints = layEndpointsOver(known.endpoints ?? [], own);
  return { ...known, ...given(own), aliases, quality, endpoints };
}

function layEndpointsOver(known: readonly EndpointEntry[], { endpoints }: ModelEntry): EndpointEntry[] {
  const own = endpoints ?? [];
  const isSame = (one: EndpointEntry) => (other: EndpointEntry) =>
    tagOf(one) === tagOf(other) && one.provider === other.provider;
  return [
    ...own.map((endpoint) => layEndpointOver(known.find(isSame(endpoint)), endpoint)),
    ...known.filter((endpoint) => !own.some(({ tag, provider }) => tagOf(endpoint) === (tag ?? provider))),
  ];
}

/** Prices are replaced as a whole, dated ones included: a configured price means none of the known ones. */
function layEndpointOver(known: EndpointEntry | undefined, own: EndpointEntry): EndpointEntry {
  if (known === undefined) return own;
  const { pricing, prices, ...rest } = known;
  const isPriced = Boolean(own.pricing ?? own.prices);
  return { ...rest, ...(!isPriced && { pricing, prices }), ...given(own) };
}

/** The members that are neither null nor undefined. */
function given<T extends object>(entry: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>;
}
