import type { Catalog, Model } from '../../catalog/catalog.ts';
import type { VersionGroup } from '../../catalog/virtual-ids.ts';

/**
 * The newest model of a family: among the author's models whose names contain every word of the family's name, the one
 * created last; at equal dates the highest version in the id. Ids with a suffix or with the word `latest` are skipped.
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
