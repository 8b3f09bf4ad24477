import type { Variant } from '../rules/routed-model.ts';

/** A model id as it was written, taken apart. */
export interface ModelId {
  /** Without the suffixes that say how to route; suffixes that make another model stay. */
  readonly base: string;
  readonly variants: readonly Variant[];
  /** Suffixes that stand for something this gateway does not do yet. */
  readonly unavailable: readonly string[];
}

const VARIANTS: readonly string[] = ['nitro', 'floor', 'exacto'] satisfies Variant[];
const UNAVAILABLE: readonly string[] = ['online'];
const NONE: readonly never[] = [];

/** Takes an id apart. Suffixes may stand in any order and number: `acme/large:nitro:free`. */
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
