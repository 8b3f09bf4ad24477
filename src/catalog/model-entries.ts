import { forEachSliced, type Sliced } from '../kit/loop/turns.ts';
import { tagOf } from './build-model.ts';
import type { EndpointEntry, ModelEntry, ProviderEntry } from './entries.ts';

/** A provider that was added to those of the configuration, with the models that were chosen for it. */
export interface AddedProvider {
  readonly provider: ProviderEntry;
  readonly models: readonly ModelEntry[];
}

/** The models that a catalogue has besides known ones. */
export interface OwnModels {
  /** Models of the configuration. */
  readonly models: readonly ModelEntry[];
  /** As `addedTo` leaves them. Absent = none. */
  readonly added?: readonly AddedProvider[] | undefined;
}

/** Added providers that the configuration does not list: it wins. */
export function addedTo<A extends AddedProvider>(
  { providers }: { readonly providers: readonly Pick<ProviderEntry, 'slug'>[] },
  added: readonly A[],
): readonly A[] {
  const configured = new Set(providers.map(({ slug }) => slug));
  return added.filter(({ provider }) => !configured.has(provider.slug));
}

/** A model of an added provider. */
interface AddedModel {
  readonly provider: string;
  readonly entry: ModelEntry;
}

/** What is said of models, by id. `entryOf` makes one model of it. */
export interface ModelEntries {
  readonly configured: ReadonlyMap<string, ModelEntry>;
  /** Ids by the aliases of the configuration. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly added: ReadonlyMap<string, readonly AddedModel[]>;
  readonly known: ReadonlyMap<string, ModelEntry>;
}

/** Which providers count. */
export interface EntryScope {
  /** Slugs of added providers that do not. */
  readonly hidden: ReadonlySet<string>;
  /** Slugs of those whose known endpoints count; absent = of all that are not hidden. */
  readonly known?: ReadonlySet<string>;
}

export const EVERY_PROVIDER: EntryScope = { hidden: new Set() };

export function* modelEntries(own: OwnModels, known: readonly ModelEntry[]): Sliced<ModelEntries> {
  const configured = new Map<string, ModelEntry>();
  const aliases = new Map<string, string>();
  yield* forEachSliced(own.models, (model) => {
    configured.set(model.id, model);
    for (const alias of model.aliases ?? []) aliases.set(alias, model.id);
  });
  const added = new Map<string, AddedModel[]>();
  for (const { provider, models } of own.added ?? []) {
    yield* forEachSliced(models, (entry) => {
      const id = aliases.get(entry.id) ?? entry.id;
      const others = added.get(id);
      if (others === undefined) added.set(id, [{ provider: provider.slug, entry }]);
      else others.push({ provider: provider.slug, entry });
    });
    yield;
  }
  return yield* withKnown({ configured, aliases, added }, known);
}

/** The same models with others that are known. */
export function* withKnown(
  { configured, aliases, added }: Omit<ModelEntries, 'known'>,
  known: readonly ModelEntry[],
): Sliced<ModelEntries> {
  const byId = new Map<string, ModelEntry>();
  yield* forEachSliced(known, (model) => byId.set(model.id, model));
  return { configured, aliases, added, known: byId };
}

/** All models. */
export function* allEntries(entries: ModelEntries): Sliced<ModelEntry[]> {
  const { configured, added, known } = entries;
  const all: ModelEntry[] = [];
  const add = (id: string) => {
    const entry = entryOf(entries, id);
    if (entry !== undefined) all.push(entry);
  };
  yield* forEachSliced(configured.keys(), add);
  yield* forEachSliced(added.keys(), (id) => configured.has(id) || add(id));
  yield* forEachSliced(known.keys(), (id) => configured.has(id) || added.has(id) || add(id));
  return all;
}

/**
 * A model: what the configuration says of it wins over what is known member by member; the two scores of `quality` are
 * members of their own, `reasoning` is one. Endpoints of the configuration come first, then those of added providers.
 * An id or alias that the configuration uses always means the configured model, also if an added provider serves one
 * of that name. Undefined if no provider that counts has the model, and the configuration does not name it.
 */
export function entryOf(
  entries: ModelEntries,
  id: string,
  scope: EntryScope = EVERY_PROVIDER,
): ModelEntry | undefined {
  const own = ownEntry(entries, id, scope);
  const known = knownEntry(entries, id, scope);
  const isFree = (alias: string) => !isTaken(entries, alias, scope);
  if (own !== undefined) return known === undefined ? own : layModelOver(known, own, isFree);
  if (known === undefined || entries.aliases.has(id)) return undefined;
  return { ...known, aliases: (known.aliases ?? []).filter(isFree) };
}

/** Known models that an added provider has taken an alias from, by the alias. */
export function lentAliases({
  configured,
  aliases,
  added,
  known,
}: ModelEntries): ReadonlyMap<string, string> {
  const lent = new Map<string, string>();
  for (const { id, aliases: own } of known.values()) {
    for (const alias of own ?? []) {
      if (added.has(alias) && !configured.has(alias) && !aliases.has(alias)) lent.set(alias, id);
    }
  }
  return lent;
}

function isTaken(
  { configured, aliases, added }: ModelEntries,
  name: string,
  { hidden }: EntryScope,
): boolean {
  if (configured.has(name) || aliases.has(name)) return true;
  return added.get(name)?.some(({ provider }) => !hidden.has(provider)) === true;
}

function ownEntry(
  { configured, added }: ModelEntries,
  id: string,
  { hidden }: EntryScope,
): ModelEntry | undefined {
  return (added.get(id) ?? NONE)
    .filter(({ provider }) => !hidden.has(provider))
    .reduce((own: ModelEntry | undefined, { entry }) => withEndpointsOf(own, entry, id), configured.get(id));
}

const NONE: readonly AddedModel[] = [];

function withEndpointsOf(own: ModelEntry | undefined, added: ModelEntry, id: string): ModelEntry {
  if (own === undefined) return { ...added, id };
  const endpoints = own.endpoints ?? [];
  const tags = new Set(endpoints.map(tagOf));
  return {
    ...own,
    endpoints: [...endpoints, ...(added.endpoints ?? []).filter((endpoint) => !tags.has(tagOf(endpoint)))],
  };
}

function knownEntry({ known }: ModelEntries, id: string, scope: EntryScope): ModelEntry | undefined {
  const entry = known.get(id);
  if (entry === undefined || (scope.known === undefined && scope.hidden.size === 0)) return entry;
  const endpoints = (entry.endpoints ?? []).filter(
    ({ provider }) => scope.known?.has(provider) ?? !scope.hidden.has(provider),
  );
  return endpoints.length === 0 ? undefined : { ...entry, endpoints };
}

function layModelOver(known: ModelEntry, own: ModelEntry, isFree: (alias: string) => boolean): ModelEntry {
  const aliases = own.aliases ?? (known.aliases ?? []).filter(isFree);
  const quality = { ...known.quality, ...given(own.quality ?? {}) };
  const endpoints = layEndpointsOver(known.endpoints ?? [], own);
  return { ...known, ...given(own), aliases, quality, endpoints };
}

function layEndpointsOver(known: readonly EndpointEntry[], { endpoints }: ModelEntry): EndpointEntry[] {
  const own = endpoints ?? [];
  const isSame = (one: EndpointEntry) => (other: EndpointEntry) =>
    tagOf(one) === tagOf(other) && one.provider === other.provider;
  return [
    ...own.map((endpoint) => layEndpointOver(known.find(isSame(endpoint)), endpoint)),
    ...known.filter((endpoint) => !own.some(({ tag, provider }) => tagOf(endpoint) === (tag ?? provider))),
  ];
}

/** Prices are replaced as a whole, dated ones included: a configured price means none of the known ones. */
function layEndpointOver(known: EndpointEntry | undefined, own: EndpointEntry): EndpointEntry {
  if (known === undefined) return own;
  const { pricing, prices, ...rest } = known;
  const isPriced = Boolean(own.pricing ?? own.prices);
  return { ...rest, ...(!isPriced && { pricing, prices }), ...given(own) };
}

/** The members that are neither null nor undefined. */
function given<T extends object>(entry: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>;
}
