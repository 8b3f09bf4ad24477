import type { Catalog, Model } from '../../catalog/catalog.ts';
import { parseModelId } from './model-id.ts';

/** The model that an id is the name of, with or without suffixes; undefined for ids that stand for a choice. */
export function namedModel(id: string, catalog: Catalog): Model | undefined {
  return catalog.resolve(id) ?? catalog.resolve(parseModelId(id).base);
}
