import { forEachSliced, type Sliced } from '../kit/loop/turns.ts';
import { tagOf } from './build-models.ts';
import type { EndpointEntry, ModelEntry } from './entries.ts';

/**
 * The models of a configuration over those that are known anyway. What the configuration says wins, member by member;
 * what it leaves out stays as it is known. Its endpoints stand first. A name that it uses, as an id or as an alias,
 * means its own model.
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
  return { ...known, ...given(own), aliases, endpoints: layEndpointsOver(known.endpoints ?? [], own) };
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

/** Prices are one thing: whoever gives new ones means none of the old, dated ones included. */
function layEndpointOver(known: EndpointEntry | undefined, own: EndpointEntry): EndpointEntry {
  if (known === undefined) return own;
  const { pricing, prices, ...rest } = known;
  const isPriced = Boolean(own.pricing ?? own.prices);
  return { ...rest, ...(!isPriced && { pricing, prices }), ...given(own) };
}

/** The members that say something. */
function given<T extends object>(entry: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>;
}
