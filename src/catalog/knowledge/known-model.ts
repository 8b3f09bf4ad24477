import type { CatalogDocument, DocumentEndpoint, DocumentModel, Provenance } from './catalog-document.ts';

/** An endpoint that is known, each with its own origin. */
export type KnownEndpoint = DocumentEndpoint & Provenance;

/** A model that is known: what is true of it wherever it runs, and the ways to reach it. */
export type KnownModel = Omit<DocumentModel, 'endpoints'> &
  Provenance & { readonly endpoints: readonly KnownEndpoint[] };

/** Models by id. */
export type KnownModels = ReadonlyMap<string, KnownModel>;

/** The models of a document, every entry with its own origin. */
export function modelsOf(document: CatalogDocument): KnownModel[] {
  return document.models.map((model) => knownModelOf(model, document));
}

/** A model of a document, every entry with its own origin. */
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

/** Whether an entry says more of a model than how it is reached. */
export function hasFacts({ id, endpoints, as_of, source, ...facts }: KnownModel): boolean {
  return Object.keys(facts).length > 0;
}
