import { forEachSliced, runAtOnce, type Sliced } from '../kit/loop/turns.ts';
import { buildModel, tagOf } from './build-model.ts';
import { buildProvider, isReachable } from './build-provider.ts';
import type { Catalog, Model, Provider } from './catalog.ts';
import type { EndpointEntry, ModelEntry, ProviderEntry } from './entries.ts';
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

/** As buildCatalog, in slices, for a serving process. */
export function* buildCatalogSliced(source: CatalogSource): Sliced<Catalog> {
  let complete: Catalog | undefined;
  const withEveryProvider = () => {
    complete ??= { ...runAtOnce(build(source, dormantProviders(source.providers))), withEveryProvider };
    return complete;
  };
  return { ...(yield* build(source, [])), withEveryProvider };
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
  const models: Model[] = [];
  yield* forEachSliced(modelEntries, (entry) => models.push(buildModel(entry, providers, nowMs)));
  models.sort((a, b) => compare(a.id, b.id));
  yield;
  const dueAtMs = nextChangeMs(models, nowMs);
  return {
    models,
    providers: [...providers.values()],
    ...(dueAtMs !== undefined && { dueAtMs }),
    resolve: resolver(models),
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

function resolver(models: readonly Model[]): Catalog['resolve'] {
  const byName = new Map<string, Model>();
  for (const model of models) for (const alias of model.aliases) byName.set(alias, model);
  for (const model of models) byName.set(model.id, model);
  return (id) => byName.get(id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Overlays the configured models on the known ones, member by member; configured members win. Configured endpoints come
 * first. An id or alias that the configuration uses always means the configured model.
 */
function* layConfigurationOver(
  known: readonly ModelEntry[],
  own: readonly ModelEntry[],
): Sliced<readonly ModelEntry[]> {
  const taken = new Set(own.flatMap(({ id, aliases }) => [id, ...(aliases ?? [])]));
  const knownById = new Map<string, ModelEntry>();
  const others: ModelEntry[] = [];
  yield* forEachSliced(known, (model) => {
    knownById.set(model.id, model);
    if (taken.has(model.id)) return;
    others.push({ ...model, aliases: (model.aliases ?? []).filter((alias) => !taken.has(alias)) });
  });
  return [...own.map((model) => layModelOver(knownById.get(model.id), model, taken)), ...others];
}

function layModelOver(
  known: ModelEntry | undefined,
  own: ModelEntry,
  taken: ReadonlySet<string>,
): ModelEntry {
  if (known === undefined) return own;
  const aliases = own.aliases ?? (known.aliases ?? []).filter((alias) => !taken.has(alias));
  return { ...known, ...given(own), aliases, endpoints: layEndpointsOver(known.endpoints ?? [], own) };
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
