import { isDeepStrictEqual } from 'node:util';
import type { CatalogDocument } from './catalog-document.ts';
import { type Difference, differencesBetween } from './differences.ts';
import { hasFacts, type KnownEndpoint, type KnownModel, type KnownModels, modelsOf } from './known-model.ts';
import { isOlder, mergeModels } from './merge-models.ts';

/** What becomes of the known models when data are merged into them. */
export interface Refreshed {
  readonly models: KnownModels;
  readonly differences: readonly Difference[];
  /** Whether anything is known otherwise afterwards: a younger date counts, even where the facts are the same. */
  readonly isChanged: boolean;
}

/**
 * Merges checked data into what is known. Endpoints of providers that the data speak of, and that they do not list any
 * more, are kept unless `prune`; a model that is left without any goes with them.
 */
export function refresh(
  known: KnownModels,
  document: CatalogDocument,
  { prune, nowMs }: { readonly prune: boolean; readonly nowMs: number },
): Refreshed {
  const given = modelsOf(document);
  const young = given.map((model) => withoutOutdated(known.get(model.id), model));
  const merged = mergeModels(known, young, nowMs);
  const gone = goneFrom(known, given);
  if (prune) for (const { model, tag } of gone) forget(merged, model, tag);
  return {
    models: merged,
    differences: [
      ...differencesBetween(known, merged),
      ...gone.map((endpoint) => ({ kind: 'gone' as const, ...endpoint, pruned: prune })),
      ...outdated(known, given),
    ],
    isChanged: !isDeepStrictEqual(new Map(known), merged),
  };
}

interface EndpointName {
  readonly model: string;
  readonly tag: string;
}

function goneFrom(known: KnownModels, given: readonly KnownModel[]): EndpointName[] {
  const covered = new Set(given.flatMap(({ endpoints }) => endpoints.map(({ provider }) => provider)));
  const listed = new Set(given.flatMap(({ id, endpoints }) => endpoints.map(({ tag }) => `${id} ${tag}`)));
  return [...known.values()].flatMap(({ id, endpoints }) =>
    endpoints
      .filter(({ provider, tag }) => covered.has(provider) && !listed.has(`${id} ${tag}`))
      .map(({ tag }) => ({ model: id, tag })),
  );
}

function forget(models: Map<string, KnownModel>, id: string, tag: string): void {
  const model = models.get(id);
  if (model === undefined) return;
  const endpoints = model.endpoints.filter((endpoint) => endpoint.tag !== tag);
  if (endpoints.length === 0) models.delete(id);
  else models.set(id, { ...model, endpoints });
}

/** A model without what is known from a later day than that of the data. */
function withoutOutdated(known: KnownModel | undefined, given: KnownModel): KnownModel {
  if (known === undefined) return given;
  const { id, as_of, source } = given;
  const facts = hasFacts(known) && isOlder(given, known) ? { id, as_of, source } : given;
  return { ...facts, endpoints: given.endpoints.filter((endpoint) => !isOutdated(endpoint, known)) };
}

function isOutdated(endpoint: KnownEndpoint, { endpoints }: KnownModel): boolean {
  return endpoints.some((other) => other.tag === endpoint.tag && isOlder(endpoint, other));
}

/** Endpoints of which something younger is known than what the data say. */
function outdated(known: KnownModels, given: readonly KnownModel[]): Difference[] {
  return given.flatMap(({ id, endpoints }) => {
    const model = known.get(id);
    const old = model === undefined ? [] : endpoints.filter((endpoint) => isOutdated(endpoint, model));
    return old.map(({ tag }) => ({ kind: 'outdated', model: id, tag }) as const);
  });
}
