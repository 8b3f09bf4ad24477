import { sortSliced } from '../kit/loop/sort-sliced.ts';
import { forEachSliced, runAtOnce, type Sliced } from '../kit/loop/turns.ts';
import { buildModel } from './build-model.ts';
import { buildProvider, isReachable } from './build-provider.ts';
import type { Catalog, Model, Provider } from './catalog.ts';
import type { ModelEntry, ProviderEntry } from './entries.ts';
import { layConfigurationOver } from './lay-configuration-over.ts';
import { nextChangeMs } from './prices/price-history.ts';
import { KNOWN_PROVIDERS } from './providers/known-providers.ts';
import { PROVIDER_TABLE } from './providers/provider-table.ts';
import { SIMULATOR_MODELS, SIMULATOR_PROVIDER } from './simulator-catalog.ts';

export interface CatalogSource {
  readonly providers: readonly ProviderEntry[];
  /** Models of the configuration. */
  readonly models: readonly ModelEntry[];
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
  let complete: Catalog | undefined;
  const withEveryProvider = () => {
    complete ??= { ...runAtOnce(build(source, dormantProviders(source.providers))), withEveryProvider };
    return complete;
  };
  const whole: Catalog = { ...(yield* build(source, [])), withEveryProvider };
  const limited = source.providers.filter(({ workspaces }) => workspaces !== undefined);
  return limited.length === 0 ? whole : { ...whole, seenFrom: viewsOf(whole, source, limited) };
}

/** The catalogues of workspaces, each made on first use: as many as there are different sets of providers. */
function viewsOf(
  whole: Catalog,
  source: CatalogSource,
  limited: readonly ProviderEntry[],
): (workspaceId: string) => Catalog {
  const views = new Map<string, Catalog>();
  return (workspaceId) => {
    const hidden = limited
      .filter(({ workspaces }) => workspaces?.includes(workspaceId) === false)
      .map(({ slug }) => slug);
    if (hidden.length === 0) return whole;
    const name = hidden.join(' ');
    const view = views.get(name) ?? buildCatalog(without(new Set(hidden), source));
    views.set(name, view);
    return view;
  };
}

/** A source without some providers. A model that only they serve is not in it either. */
function without(hidden: ReadonlySet<string>, source: CatalogSource): CatalogSource {
  const models = source.models.flatMap((model) => {
    const endpoints = model.endpoints?.filter(({ provider }) => !hidden.has(provider));
    const isLeft = endpoints === undefined || endpoints.length > 0 || model.endpoints?.length === 0;
    return isLeft ? [{ ...model, endpoints: endpoints ?? null }] : [];
  });
  const providers = source.providers
    .filter(({ slug }) => !hidden.has(slug))
    .map(({ workspaces, ...provider }) => provider);
  return { ...source, providers, models };
}

/** `dormant`: known providers for which the gateway has no credential. */
function* build(
  { providers: given, models: own, known, nowMs = Date.now() }: CatalogSource,
  dormant: readonly Provider[],
): Sliced<Omit<Catalog, 'withEveryProvider'>> {
  const listed = given.length === 0 ? [SIMULATOR_PROVIDER] : given;
  const providers = new Map(dormant.map((provider) => [provider.slug, provider]));
  for (const entry of listed) providers.set(entry.slug, buildProvider(entry));
  const publicSlugs = new Set(
    [...providers.values()].filter(({ isPublic }) => isPublic).map(({ slug }) => slug),
  );
  const modelEntries = yield* layConfigurationOver(
    [
      ...(providers.has(SIMULATOR_PROVIDER.slug) ? SIMULATOR_MODELS : []),
      ...(known === undefined || publicSlugs.size === 0 ? [] : yield* known(publicSlugs)),
    ],
    own,
  );
  for (const entry of unlisted(listed, own)) providers.set(entry.slug, buildProvider(entry));
  yield;
  const built: Model[] = [];
  yield* forEachSliced(modelEntries, (entry) => built.push(buildModel(entry, providers, nowMs)));
  const models = yield* sortSliced(built, (a, b) => compare(a.id, b.id));
  yield;
  const dueAtMs = nextChangeMs(models, nowMs);
  return {
    models,
    providers: [...providers.values()],
    ...(dueAtMs !== undefined && { dueAtMs }),
    resolve: yield* resolver(models),
  };
}

/** Providers of the built-in table that are not listed and whose address is known. */
function dormantProviders(listed: readonly ProviderEntry[]): Provider[] {
  const slugs = new Set(listed.map(({ slug }) => slug));
  return Object.keys(PROVIDER_TABLE)
    .filter((slug) => !slugs.has(slug) && isReachable(slug))
    .map((slug) => ({ ...buildProvider({ slug }), isDormant: true }));
}

/** Unlisted providers of the built-in table that endpoints name; some need no key. */
function unlisted(listed: readonly ProviderEntry[], models: readonly ModelEntry[]): ProviderEntry[] {
  const named = new Set(models.flatMap(({ endpoints }) => (endpoints ?? []).map(({ provider }) => provider)));
  for (const { slug } of listed) named.delete(slug);
  return [...named].filter((slug) => KNOWN_PROVIDERS.has(slug)).map((slug) => ({ slug }));
}

function* resolver(models: readonly Model[]): Sliced<Catalog['resolve']> {
  const byName = new Map<string, Model>();
  yield* forEachSliced(models, (model) => {
    for (const alias of model.aliases) byName.set(alias, model);
  });
  yield* forEachSliced(models, (model) => byName.set(model.id, model));
  return (id) => byName.get(id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
