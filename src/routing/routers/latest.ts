import type { Catalog, Model } from '../../catalog/catalog.ts';

/** The group of versions that `~author/family-latest` names. */
export interface VersionGroup {
  readonly author: string;
  readonly family: string;
}

/** Reads `~author/family-latest`; undefined for any other id. */
export function parseLatest(id: string): VersionGroup | undefined {
  if (!id.startsWith('~')) return undefined;
  const match = /^~([^/]+)\/(.+)-latest$/.exec(id);
  return match === null ? undefined : { author: match[1] ?? '', family: match[2] ?? '' };
}

/**
 * The newest model of a family: of the author's models whose names have every word of the family's, the one that was
 * made last; of equally old ones the one with the highest version in its id. Suffixed ids are not versions, nor are
 * ids that stand for the latest themselves.
 */
export function latestOf({ author, family }: VersionGroup, { models }: Catalog): Model | undefined {
  const wanted = wordsOf(family);
  let latest: Model | undefined;
  for (const model of models) {
    if (!model.id.startsWith(`${author}/`) || model.id.includes(':')) continue;
    const words = new Set(wordsOf(model.id.slice(author.length + 1)));
    if (words.has('latest') || !wanted.every((word) => words.has(word))) continue;
    if (latest === undefined || isNewer(model, latest)) latest = model;
  }
  return latest;
}

function wordsOf(name: string): string[] {
  return name.split(/[-./]/).filter((word) => word !== '');
}

function isNewer(a: Model, b: Model): boolean {
  return a.created > b.created || (a.created === b.created && BY_VERSION.compare(a.id, b.id) > 0);
}

/** Compares numbers in ids as numbers. */
const BY_VERSION = new Intl.Collator('en', { numeric: true });
