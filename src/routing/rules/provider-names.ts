import type { Endpoint, Provider } from '../../catalog/catalog.ts';
import { tierOf } from '../../catalog/service-tier.ts';

/** Names in a list of a preference, in lower case, each with its first index. */
export type NameList = ReadonlyMap<string, number>;

export function nameListOf(names: readonly string[]): NameList {
  const list = new Map<string, number>();
  for (const [place, name] of names.entries()) {
    const word = name.toLowerCase();
    if (!list.has(word)) list.set(word, place);
  }
  return list;
}

/**
 * All names of an endpoint. A base slug or display name means every variant and region of a provider except those of a
 * service tier; a full slug means one endpoint. Slugs are in lower case.
 */
export function namesOf(endpoint: Endpoint): readonly string[] {
  const { tag, provider } = endpoint;
  if (tierOf(endpoint) !== undefined) return [tag];
  const slash = tag.indexOf('/');
  return [tag, provider.slug, provider.name.toLowerCase(), slash === -1 ? tag : tag.slice(0, slash)];
}

/** The lowest index of an endpoint's names in a list; infinite if none is in it. */
export function placeIn(list: NameList, endpoint: Endpoint): number {
  let place = Number.POSITIVE_INFINITY;
  if (list.size === 0) return place;
  for (const name of namesOf(endpoint)) place = Math.min(place, list.get(name) ?? place);
  return place;
}

export function isNamedIn(list: NameList, endpoint: Endpoint): boolean {
  return placeIn(list, endpoint) !== Number.POSITIVE_INFINITY;
}

export function isNamedInFull(list: NameList, endpoint: Endpoint): boolean {
  return list.has(endpoint.tag);
}

/** True if a list names a provider itself, not only one of its endpoints. */
export function isProviderNamedIn(list: NameList, { slug, name }: Pick<Provider, 'slug' | 'name'>): boolean {
  return list.has(slug) || list.has(name.toLowerCase());
}
