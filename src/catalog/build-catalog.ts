import { buildModel } from './build-models.ts';
import { buildProvider } from './build-providers.ts';
import type { Catalog, Model } from './catalog.ts';
import type { ModelEntry, ProviderEntry } from './entries.ts';
import { KNOWN_PROVIDERS } from './known-providers.ts';
import { layConfigurationOver } from './lay-configuration-over.ts';
import { nextChangeMs } from './price-history.ts';
import { SIMULATOR_MODELS, SIMULATOR_PROVIDER } from './simulator-catalog.ts';

/** What a catalogue is made of. */
export interface CatalogSource {
  readonly providers: readonly ProviderEntry[];
  /** Models of the configuration. */
  readonly models: readonly ModelEntry[];
  /** What is known of the models of these providers without being told; default: nothing. */
  readonly known?: (providers: ReadonlySet<string>) => readonly ModelEntry[];
  /** The moment whose prices count, epoch milliseconds; default: now. */
  readonly nowMs?: number;
}

/**
 * Builds the catalogue from validated entries. Known models are there while a provider of theirs is listed and reached
 * at its public address. The simulator and its models are there when the configuration names no provider at all, or
 * names the simulator.
 */
export function buildCatalog({
  providers: given,
  models: own,
  known,
  nowMs = Date.now(),
}: CatalogSource): Catalog {
  const listed = given.length === 0 ? [SIMULATOR_PROVIDER] : given;
  const providers = new Map(listed.map((entry) => [entry.slug, buildProvider(entry)]));
  const publicSlugs = new Set(
    [...providers.values()].filter(({ isPublic }) => isPublic).map(({ slug }) => slug),
  );
  const modelEntries = layConfigurationOver(
    [
      ...(providers.has(SIMULATOR_PROVIDER.slug) ? SIMULATOR_MODELS : []),
      ...(known === undefined || publicSlugs.size === 0 ? [] : known(publicSlugs)),
    ],
    own,
  );
  for (const entry of unlisted(listed, own)) providers.set(entry.slug, buildProvider(entry));
  const models = modelEntries
    .map((entry) => buildModel(entry, providers, nowMs))
    .sort((a, b) => compare(a.id, b.id));
  const dueAtMs = nextChangeMs(models, nowMs);
  return {
    models,
    providers: [...providers.values()],
    ...(dueAtMs !== undefined && { dueAtMs }),
    resolve: resolver(models),
  };
}

/** Providers of the table that endpoints name although nobody listed them: some need no key. */
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
