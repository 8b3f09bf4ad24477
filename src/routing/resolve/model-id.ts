import type { Catalog, Model } from '../../catalog/catalog.ts';
import type { Variant } from '../rules/routed-model.ts';

/** A parsed model id. */
export interface ModelId {
  /** Without routing suffixes; suffixes that name another model stay. */
  readonly base: string;
  readonly variants: readonly Variant[];
  /** Suffixes that this gateway does not support yet. */
  readonly unavailable: readonly string[];
}

const VARIANTS: readonly string[] = ['nitro', 'floor', 'exacto'] satisfies Variant[];
const UNAVAILABLE: readonly string[] = ['online'];
const NONE: readonly never[] = [];

/** Parses an id. Suffixes may come in any order and number: `acme/large:nitro:free`. */
export function parseModelId(id: string): ModelId {
  return id.includes(':') ? parseSuffixed(id) : { base: id, variants: NONE, unavailable: NONE };
}

function parseSuffixed(id: string): ModelId {
  const [name = '', ...suffixes] = id.split(':');
  const isRouting = (suffix: string) => VARIANTS.includes(suffix) || UNAVAILABLE.includes(suffix);
  return {
    base: [name, ...suffixes.filter((suffix) => !isRouting(suffix))].join(':'),
    variants: [...new Set(suffixes.filter((suffix) => VARIANTS.includes(suffix)))] as Variant[],
    unavailable: suffixes.filter((suffix) => UNAVAILABLE.includes(suffix)),
  };
}

/** The model with this id or alias, with or without routing suffixes; undefined if unknown, and for routers. */
export function findModelById(id: string, catalog: Catalog): Model | undefined {
  return catalog.resolve(id) ?? catalog.resolve(parseModelId(id).base);
}
