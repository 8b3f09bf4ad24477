import { isDeepStrictEqual } from 'node:util';
import { forEachSliced, type Sliced } from '../../kit/loop/turns.ts';
import type { CatalogDocument } from './catalog-document.ts';
import { type Difference, differencesBetween } from './differences.ts';
import {
  hasFacts,
  type KnownEndpoint,
  type KnownModel,
  type KnownModels,
  knownModelOf,
} from './known-model.ts';
import { isOlder, mergeModelsSliced } from './merge-models.ts';

export interface Refreshed {
  readonly models: KnownModels;
  readonly differences: readonly Difference[];
  /** True if anything changes, be it only the day of an entry. */
  readonly isChanged: boolean;
}

/**
 * Merges checked data into the known models. `prune` removes endpoints that the data do not list, of providers that the
 * data do list; a model that is left without endpoints is removed too, unless the data contain it.
 */
export function* refresh(
  known: KnownModels,
  document: CatalogDocument,
  { prune, nowMs }: { readonly prune: boolean; readonly nowMs: number },
): Sliced<Refreshed> {
  const given: KnownModel[] = [];
  const young: KnownModel[] = [];
  const outdated: Difference[] = [];
  yield* forEachSliced(document.models, (entry) => {
    const model = knownModelOf(entry, document);
    const before = known.get(model.id);
    given.push(model);
    young.push(withoutOutdated(before, model));
    outdated.push(...outdatedOf(before, model));
  });
  const merged = yield* mergeModelsSliced(known, young, nowMs);
  const gone = yield* goneFrom(known, given);
  if (prune) {
    const inData = new Set(given.map(({ id }) => id));
    yield* forEachSliced(gone, ({ model, tag }) => forget(merged, model, tag, inData.has(model)));
  }
  let isChanged = prune && gone.length > 0;
  yield* forEachSliced(given, ({ id }) => {
    isChanged ||= !isDeepStrictEqual(known.get(id), merged.get(id));
  });
  const changes = yield* differencesBetween(known, merged);
  return {
    models: merged,
    differences: [
      ...changes,
      ...gone.map((endpoint) => ({ kind: 'gone' as const, ...endpoint, pruned: prune })),
      ...outdated,
    ],
    isChanged,
  };
}

interface EndpointName {
  readonly model: string;
  readonly tag: string;
}

function* goneFrom(known: KnownModels, given: readonly KnownModel[]): Sliced<EndpointName[]> {
  const covered = new Set<string>();
  const listed = new Set<string>();
  yield* forEachSliced(given, ({ id, endpoints }) => {
    for (const { provider, tag } of endpoints) {
      covered.add(provider);
      listed.add(`${id} ${tag}`);
    }
  });
  const gone: EndpointName[] = [];
  yield* forEachSliced(known.values(), ({ id, endpoints }) => {
    for (const { provider, tag } of endpoints) {
      if (covered.has(provider) && !listed.has(`${id} ${tag}`)) gone.push({ model: id, tag });
    }
  });
  return gone;
}

function forget(models: Map<string, KnownModel>, id: string, tag: string, isInData: boolean): void {
  const model = models.get(id);
  if (model === undefined) return;
  const endpoints = model.endpoints.filter((endpoint) => endpoint.tag !== tag);
  if (endpoints.length === 0 && !isInData) models.delete(id);
  else models.set(id, { ...model, endpoints });
}

/** Removes the entries of a model that are older than the known ones. */
function withoutOutdated(known: KnownModel | undefined, given: KnownModel): KnownModel {
  if (known === undefined) return given;
  const { id, as_of, source } = given;
  const facts = hasFacts(known) && isOlder(given, known) ? { id, as_of, source } : given;
  return { ...facts, endpoints: given.endpoints.filter((endpoint) => !isOutdated(endpoint, known)) };
}

function isOutdated(endpoint: KnownEndpoint, { endpoints }: KnownModel): boolean {
  return endpoints.some((other) => other.tag === endpoint.tag && isOlder(endpoint, other));
}

/** Endpoints whose known entry is newer than the data. */
function outdatedOf(known: KnownModel | undefined, { id, endpoints }: KnownModel): Difference[] {
  const old = known === undefined ? [] : endpoints.filter((endpoint) => isOutdated(endpoint, known));
  return old.map(({ tag }) => ({ kind: 'outdated', model: id, tag }) as const);
}
