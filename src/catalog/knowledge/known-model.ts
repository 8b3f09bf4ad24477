import type { CatalogDocument, DocumentEndpoint, DocumentModel, Provenance } from './catalog-document.ts';

export type KnownEndpoint = DocumentEndpoint & Provenance;

/** A model with its origin: facts that hold at every provider, and its endpoints. */
export type KnownModel = Omit<DocumentModel, 'endpoints'> &
  Provenance & { readonly endpoints: readonly KnownEndpoint[] };

export type KnownModels = ReadonlyMap<string, KnownModel>;

export function modelsOf(document: CatalogDocument): KnownModel[] {
  return document.models.map((model) => knownModelOf(model, document));
}

export function knownModelOf(model: DocumentModel, document: Provenance): KnownModel {
  const origin = { as_of: model.as_of ?? document.as_of, source: model.source ?? document.source };
  return {
    ...model,
    ...origin,
    endpoints: (model.endpoints ?? []).map((endpoint) => ({
      ...endpoint,
      as_of: endpoint.as_of ?? origin.as_of,
      source: endpoint.source ?? origin.source,
    })),
  };
}

/** True if an entry has facts besides endpoints. */
export function hasFacts({ id, endpoints, as_of, source, ...facts }: KnownModel): boolean {
  return Object.keys(facts).length > 0;
}
