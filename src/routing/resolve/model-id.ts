import type { Catalog, Model } from '../../catalog/catalog.ts';
import type { Variant } from '../rules/routed-model.ts';

export interface ModelId {
  /** Without routing suffixes; suffixes that name another model stay. */
  readonly base: string;
  readonly variants: readonly Variant[];
  /** It has the suffix `:online`, which asks for a web search and does not change where a request goes. */
  readonly isOnline: boolean;
}

const VARIANTS: readonly string[] = ['nitro', 'floor', 'exacto'] satisfies Variant[];
const ONLINE = 'online';
const NONE: readonly never[] = [];

/** Parses an id. Suffixes may come in any order and number: `acme/large:nitro:free`. */
export function parseModelId(id: string): ModelId {
  return id.includes(':') ? parseSuffixed(id) : { base: id, variants: NONE, isOnline: false };
}

function parseSuffixed(id: string): ModelId {
  const [name = '', ...suffixes] = id.split(':');
  const isRouting = (suffix: string) => VARIANTS.includes(suffix) || suffix === ONLINE;
  return {
    base: [name, ...suffixes.filter((suffix) => !isRouting(suffix))].join(':'),
    variants: [...new Set(suffixes.filter((suffix) => VARIANTS.includes(suffix)))] as Variant[],
    isOnline: suffixes.includes(ONLINE),
  };
}

/** The model with this id or alias, with or without routing suffixes; undefined if unknown, and for routers. */
export function findModelById(id: string, catalog: Catalog): Model | undefined {
  return catalog.resolve(id) ?? catalog.resolve(parseModelId(id).base);
}
