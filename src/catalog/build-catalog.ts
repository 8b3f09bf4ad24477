import { sortSliced } from '../kit/loop/sort-sliced.ts';
import { forEachSliced, runAtOnce, type Sliced } from '../kit/loop/turns.ts';
import { buildModel } from './build-model.ts';
import { buildProvider, isReachable } from './build-provider.ts';
import type { Catalog, Model, Provider } from './catalog.ts';
import { byId, CatalogLayer } from './catalog-layer.ts';
import type { ModelEntry, ProviderEntry } from './entries.ts';
import {
  allEntries,
  type EntryScope,
  entryOf,
  lentAliases,
  type ModelEntries,
  modelEntries,
  type OwnModels,
  withKnown,
} from './model-entries.ts';
import { nextChangeMs } from './prices/price-history.ts';
import { KNOWN_PROVIDERS } from './providers/known-providers.ts';
import { PROVIDER_TABLE } from './providers/provider-table.ts';
import { SIMULATOR_MODELS, SIMULATOR_PROVIDER } from './simulator-catalog.ts';

export interface CatalogSource extends OwnModels {
  /** Providers of the configuration. */
  readonly providers: readonly ProviderEntry[];
  /** Known models of these providers, from outside the configuration; default: none. */
  readonly known?: (providers: ReadonlySet<string>) => Sliced<readonly ModelEntry[]>;
  /** The time whose prices apply, epoch milliseconds; default: now. */
  readonly nowMs?: number;
}

/**
 * Builds the catalogue from validated entries. Known models are included if one of their providers is listed and called
 * at its public address. The simulator and its models are included if the configuration lists no provider, or lists the
 * simulator.
 */
export function buildCatalog(source: CatalogSource): Catalog {
  return runAtOnce(buildCatalogSliced(source));
}

/** `buildCatalog` in slices, for a serving process. */
export function* buildCatalogSliced(source: CatalogSource): Sliced<Catalog> {
  const given = source.providers.length === 0 ? [SIMULATOR_PROVIDER] : source.providers;
  const added = (source.added ?? []).map(({ provider }) => provider);
  const listed = new Map([...given, ...added].map((entry) => [entry.slug, buildProvider(entry)]));
  const known = publicSlugs(listed.values());
  const isSimulated = listed.has(SIMULATOR_PROVIDER.slug);
  const entries = yield* modelEntries(source, yield* knownModels(source, isSimulated, known));
  const nowMs = source.nowMs ?? Date.now();
  const providers = withUnlisted(listed, entries);
  yield;
  const built: Model[] = [];
  yield* forEachSliced(yield* allEntries(entries), (entry) =>
    built.push(buildModel(entry, providers, nowMs)),
  );
  const models = yield* sortSliced(built, byId);
  const dueAtMs = yield* nextChangeMs(models, nowMs);
  const resolve = yield* resolver(models);
  const { known: _known, ...own } = entries;
  const parts: Parts = {
    listed,
    nowMs,
    everyKnown: once(() => everyKnown(source, own, isSimulated)),
  };
  const limited = added.filter(({ workspaces }) => workspaces !== undefined);
  const whole: Catalog = {
    models,
    providers: [...providers.values()],
    ...(dueAtMs !== undefined && { dueAtMs }),
    resolve,
    withEveryProvider: once(() => layEveryProvider(whole, parts, NOTHING_HIDDEN)),
    ...(limited.length > 0 && { seenFrom: viewsOf(() => whole, { ...parts, entries }, limited) }),
  };
  return whole;
}

/** What a catalogue was made from, for others that differ from it in their providers. */
interface Parts {
  /** The providers of the configuration and those that were added. */
  readonly listed: ReadonlyMap<string, Provider>;
  readonly nowMs: number;
  /** The same models with all that is known of any provider. */
  readonly everyKnown: () => ModelEntries;
}

interface ViewParts extends Parts {
  readonly entries: ModelEntries;
}

const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

/** What is known of the models of some providers, and of the simulator if it serves. */
function* knownModels(
  { known }: CatalogSource,
  isSimulated: boolean,
  slugs: ReadonlySet<string>,
): Sliced<readonly ModelEntry[]> {
  const found = known === undefined || slugs.size === 0 ? [] : yield* known(slugs);
  return isSimulated ? [...SIMULATOR_MODELS, ...found] : found;
}

function publicSlugs(providers: Iterable<Provider>): ReadonlySet<string> {
  return new Set([...providers].filter(({ isPublic }) => isPublic).map(({ slug }) => slug));
}

/** The providers, and unlisted ones of the built-in table that configured endpoints name; some need no key. */
function withUnlisted(
  listed: ReadonlyMap<string, Provider>,
  { configured }: ModelEntries,
): ReadonlyMap<string, Provider> {
  const all = new Map(listed);
  for (const { endpoints } of configured.values()) {
    for (const { provider: slug } of endpoints ?? []) {
      if (!listed.has(slug) && KNOWN_PROVIDERS.has(slug))
        all.set(slug, all.get(slug) ?? buildProvider({ slug }));
    }
  }
  return all;
}

function* resolver(models: readonly Model[]): Sliced<Catalog['resolve']> {
  const byName = new Map<string, Model>();
  yield* forEachSliced(models, (model) => {
    for (const alias of model.aliases) byName.set(alias, model);
  });
  yield* forEachSliced(models, (model) => byName.set(model.id, model));
  return (id) => byName.get(id);
}

// --- The catalogues of workspaces ------------------------------------------------------------------------------------

/**
 * The catalogues of workspaces: as many as there are different sets of providers. Such a catalogue is what the gateway
 * would have without the added providers that do not serve the workspace.
 */
function viewsOf(
  whole: () => Catalog,
  parts: ViewParts,
  limited: readonly ProviderEntry[],
): (workspaceId: string) => Catalog {
  const views = new Map<string, Catalog>();
  const served = limited.map(({ slug, workspaces }) => [slug, new Set(workspaces)] as const);
  const lent = once(() => lentAliases(parts.entries));
  return (workspaceId) => {
    const hidden = served.flatMap(([slug, workspaces]) => (workspaces.has(workspaceId) ? [] : slug));
    if (hidden.length === 0) return whole();
    const name = hidden.join(' ');
    const view = views.get(name) ?? viewWithout(new Set(hidden), whole(), lent(), parts);
    views.set(name, view);
    return view;
  };
}

function viewWithout(
  hidden: ReadonlySet<string>,
  base: Catalog,
  names: ReadonlyMap<string, string>,
  parts: ViewParts,
): Catalog {
  const { entries, listed, nowMs } = parts;
  const others = new Map([...listed].filter(([slug]) => !hidden.has(slug)));
  const providers = withUnlisted(others, entries);
  const renamed = new Set(names.values());
  const view: Catalog = new CatalogLayer({
    base,
    providers: [...providers.values()],
    isChanged: ({ id, endpoints }) =>
      endpoints.some(({ provider }) => hidden.has(provider.slug)) || renamed.has(id),
    names,
    make: modelMaker(entries, { hidden }, providers, nowMs),
    withEveryProvider: once(() => layEveryProvider(view, parts, hidden)),
  });
  return view;
}

function modelMaker(
  entries: ModelEntries,
  scope: EntryScope,
  providers: ReadonlyMap<string, Provider>,
  nowMs: number,
): (id: string) => Model | undefined {
  return (id) => {
    const entry = entryOf(entries, id, scope);
    return entry && buildModel(entry, providers, nowMs);
  };
}

// --- Providers without a credential ----------------------------------------------------------------------------------

/** A catalogue with the known providers for which the gateway has no credential. */
function layEveryProvider(
  base: Catalog,
  { listed, nowMs, everyKnown }: Parts,
  hidden: ReadonlySet<string>,
): Catalog {
  const isListed = (slug: string) => listed.has(slug) && !hidden.has(slug);
  const dormant = Object.keys(PROVIDER_TABLE)
    .filter((slug) => !isListed(slug) && isReachable(slug))
    .map((slug): Provider => ({ ...buildProvider({ slug }), isDormant: true }));
  const newlyKnown = new Set(dormant.map(({ slug }) => slug));
  const providers = new Map([...dormant, ...base.providers].map((provider) => [provider.slug, provider]));
  const known = new Set([...newlyKnown, ...publicSlugs(base.providers), SIMULATOR_PROVIDER.slug]);
  const entries = everyKnown();
  const names = new Map<string, string>();
  for (const { id, aliases, endpoints } of entries.known.values()) {
    if (!(endpoints ?? []).some(({ provider }) => newlyKnown.has(provider))) continue;
    for (const name of [...(aliases ?? []), id]) names.set(name, id);
  }
  const every: Catalog = new CatalogLayer({
    base,
    providers: [...providers.values()],
    isChanged: ({ id }) => names.get(id) === id,
    names,
    make: modelMaker(entries, { hidden, known }, providers, nowMs),
    withEveryProvider: () => every,
  });
  return every;
}

/** Read on first use, at once: most gateways have no caller who brings credentials for such a provider. */
function everyKnown(
  source: CatalogSource,
  own: Omit<ModelEntries, 'known'>,
  isSimulated: boolean,
): ModelEntries {
  const slugs = new Set(Object.keys(PROVIDER_TABLE).filter(isReachable));
  return runAtOnce(withKnown(own, runAtOnce(knownModels(source, isSimulated, slugs))));
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
