import type { Catalog, Model } from '../../catalog/catalog.ts';

export type ModelLookup = Pick<Catalog, 'resolve' | 'models'>;

/** The model with this id, alias or canonical slug; undefined if there is none. */
export function findModel(name: string, catalog: ModelLookup): Model | undefined {
  return catalog.resolve(name) ?? catalog.models.find(({ canonicalSlug }) => canonicalSlug === name);
}

export function canonicalSlugOf(name: string, catalog: ModelLookup | undefined): string {
  const model = catalog && findModel(name, catalog);
  return model?.canonicalSlug ?? model?.id ?? name;
}
