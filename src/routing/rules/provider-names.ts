import type { Endpoint } from '../../catalog/catalog.ts';
import { tierOf } from '../../catalog/endpoint-tier.ts';

/** Names that a preference lists, in lower case, each with its first place in the list. */
export type NameList = ReadonlyMap<string, number>;

/** Reads a list of slugs and display names. */
export function nameListOf(names: readonly string[]): NameList {
  const list = new Map<string, number>();
  for (const [place, name] of names.entries()) {
    const word = name.toLowerCase();
    if (!list.has(word)) list.set(word, place);
  }
  return list;
}

/**
 * Every name of an endpoint. A base slug names every variant and region of its provider, a full slug one endpoint;
 * endpoints of a service tier are never meant by a base slug. Display names count as base slugs. Slugs are in lower
 * case.
 */
export function namesOf(endpoint: Endpoint): readonly string[] {
  const { tag, provider } = endpoint;
  if (tierOf(endpoint) !== undefined) return [tag];
  const slash = tag.indexOf('/');
  return [tag, provider.slug, provider.name.toLowerCase(), slash === -1 ? tag : tag.slice(0, slash)];
}

/** The place of an endpoint in a list: that of its first name there; infinite when it is not named. */
export function placeIn(list: NameList, endpoint: Endpoint): number {
  let place = Number.POSITIVE_INFINITY;
  if (list.size === 0) return place;
  for (const name of namesOf(endpoint)) place = Math.min(place, list.get(name) ?? place);
  return place;
}

/** Whether an endpoint has any name in a list. */
export function isNamedIn(list: NameList, endpoint: Endpoint): boolean {
  return placeIn(list, endpoint) !== Number.POSITIVE_INFINITY;
}

/** Whether a list has the endpoint's own slug, and not only one of its provider. */
export function isNamedInFull(list: NameList, endpoint: Endpoint): boolean {
  return list.has(endpoint.tag);
}
