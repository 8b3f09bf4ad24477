import type { CatalogDocument, DocumentEndpoint, DocumentModel, Provenance } from './catalog-document.ts';

/** An endpoint that is known, each with its own origin. */
export type KnownEndpoint = DocumentEndpoint & Provenance;

/** A model that is known: what is true of it wherever it runs, and the ways to reach it. */
export type KnownModel = Omit<DocumentModel, 'endpoints'> &
  Provenance & { readonly endpoints: readonly KnownEndpoint[] };

/** Models by id. */
export type KnownModels = ReadonlyMap<string, KnownModel>;

/** The models of a document, every entry with its own origin. */
export function modelsOf({ as_of, source, models }: CatalogDocument): KnownModel[] {
  return models.map((model) => {
    const origin = { as_of: model.as_of ?? as_of, source: model.source ?? source };
    return {
      ...model,
      ...origin,
      endpoints: (model.endpoints ?? []).map((endpoint) => ({
        ...endpoint,
        as_of: endpoint.as_of ?? origin.as_of,
        source: endpoint.source ?? origin.source,
      })),
    };
  });
}

/** Whether an entry says more of a model than how it is reached. */
export function hasFacts({ id, endpoints, as_of, source, ...facts }: KnownModel): boolean {
  return Object.keys(facts).length > 0;
}
