import { tagOf } from '../../catalog/build-model.ts';
import type { EndpointEntry, ModelEntry, PricingEntry, ProviderEntry } from '../../catalog/entries.ts';
import type { KnownModel, KnownModels } from '../../catalog/knowledge/known-model.ts';
import { priceAt } from '../../catalog/knowledge/merge-models.ts';
import { similarModelId } from '../../catalog/knowledge/model-hint.ts';
import { orderEndpoints } from '../../catalog/knowledge/order-endpoints.ts';
import { type AddedProvider, addedTo, allEntries, modelEntries } from '../../catalog/model-entries.ts';
import { KNOWN_PROVIDERS } from '../../catalog/providers/known-providers.ts';
import { SIMULATOR_MODELS } from '../../catalog/simulator-catalog.ts';
import { pricesPerMillion } from '../../config/shown-prices.ts';
import { GatewayError } from '../../ir/errors.ts';
import { forEachSliced, type Sliced } from '../../kit/loop/turns.ts';
import { nearestWord } from '../../kit/text/nearest-word.ts';
import { type ConfiguredProviders, providerNeeds } from './provider-needs.ts';

/** The part of a configuration that decides which models are served. */
export interface ConfiguredCatalog {
  readonly providers: readonly ProviderEntry[];
  readonly models: readonly ModelEntry[];
  /** Providers that the operator has added; absent = none. */
  readonly added?: readonly AddedProvider[];
}

/** Where data came from; absent for what the configuration says. */
interface Origin {
  readonly as_of?: string;
  readonly source?: string;
}

export type ListedEndpoint = EndpointEntry &
  Origin & {
    readonly tag: string;
    /** False = the gateway does not call it. */
    readonly is_on: boolean;
    /** The step that switches it on; null if it is on. */
    readonly needs: string | null;
    /** Prices at the moment: tokens for a million (`prompt_per_million`), the rest for one. */
    readonly current_pricing: object;
  };

/** A model that is known, configured, or both, with its endpoints in the order of attempts. */
export type ListedModel = Omit<ModelEntry, 'endpoints'> &
  Origin & { readonly endpoints: readonly ListedEndpoint[] };

/** Which models to list; absent members exclude none. */
export interface ModelFilter {
  readonly provider?: string;
  /** Words that id, name or aliases contain, in any order. */
  readonly search?: string;
  /** Prompt and completion cost nothing at an endpoint. */
  readonly free?: boolean;
  /** An endpoint is on. */
  readonly available?: boolean;
  /** A request parameter that an endpoint honours. */
  readonly parameter?: string;
  /** A kind of content that they take or write. */
  readonly modality?: string;
}

/** All models, by id. Members of the configuration win over known ones. */
export function* listedModels(
  known: KnownModels,
  configured: ConfiguredCatalog,
  nowMs: number,
): Sliced<ListedModel[]> {
  const ordered: ModelEntry[] = [...SIMULATOR_MODELS];
  yield* forEachSliced(known.values(), (model: KnownModel) => {
    ordered.push({ ...model, endpoints: orderEndpoints(model, nowMs) });
  });
  const added = addedTo(configured, configured.added ?? []);
  const entries = yield* allEntries(yield* modelEntries({ models: configured.models, added }, ordered));
  const providers: ConfiguredProviders = new Map(
    [...configured.providers, ...added.map(({ provider }) => provider)].map((entry) => [entry.slug, entry]),
  );
  const needsOf = { own: needsBySlug(providers, true), known: needsBySlug(providers, false) };
  const own = new Set<string>();
  for (const models of [configured.models, ...added.map((each) => each.models)]) {
    yield* forEachSliced(models, (model) => {
      for (const site of sitesOf(model)) own.add(site);
    });
    yield;
  }
  const models: ListedModel[] = [];
  yield* forEachSliced(entries, (entry) => {
    models.push(listed(entry, (site, slug) => (own.has(site) ? needsOf.own : needsOf.known)(slug), nowMs));
  });
  return models.sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** The missing step of an endpoint, cached by provider: a catalogue has many endpoints and few providers. */
function needsBySlug(providers: ConfiguredProviders, isOwn: boolean): (slug: string) => string | undefined {
  const found = new Map<string, string | undefined>();
  return (slug) => {
    if (!found.has(slug)) found.set(slug, providerNeeds(slug, providers, isOwn));
    return found.get(slug);
  };
}

function sitesOf({ id, endpoints }: ModelEntry): string[] {
  return (endpoints ?? []).map((endpoint) => siteOf(id, tagOf(endpoint)));
}

function siteOf(id: string, tag: string): string {
  return `${id}\n${tag}`;
}

function listed(
  model: ModelEntry,
  needsOf: (site: string, slug: string) => string | undefined,
  nowMs: number,
): ListedModel {
  return {
    ...model,
    endpoints: (model.endpoints ?? []).map((endpoint) => {
      const tag = tagOf(endpoint);
      const needs = needsOf(siteOf(model.id, tag), endpoint.provider);
      return {
        ...endpoint,
        tag,
        is_on: needs === undefined,
        needs: needs ?? null,
        current_pricing: pricesPerMillion(priceAt(endpoint, nowMs)),
      };
    }),
  };
}

/** The models that a filter leaves, with the endpoints that it leaves. Throws for an unknown provider or parameter. */
export function* filteredModels(models: readonly ListedModel[], filter: ModelFilter): Sliced<ListedModel[]> {
  const { provider, search = '', free, available, parameter, modality } = filter;
  if (provider !== undefined) requireProvider(provider, models);
  if (parameter !== undefined) requireParameter(parameter, models);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  // A model without endpoints is in a list that asks nothing of them.
  const isOfEndpoints = [provider, free, available, parameter].some((member) => member !== undefined);
  const isWanted = (endpoint: ListedEndpoint) =>
    (provider === undefined || endpoint.provider === provider) &&
    (free !== true || isFree(endpoint)) &&
    (available !== true || endpoint.is_on) &&
    (parameter === undefined || endpoint.supported_parameters?.includes(parameter) !== false);
  const left: ListedModel[] = [];
  yield* forEachSliced(models, (model) => {
    const { id, name, aliases, input_modalities, output_modalities } = model;
    const text = [id, name ?? '', ...(aliases ?? [])].join(' ').toLowerCase();
    const kinds = [...(input_modalities ?? []), ...(output_modalities ?? [])];
    if (!words.every((word) => text.includes(word))) return;
    if (modality !== undefined && !kinds.includes(modality)) return;
    const endpoints = isOfEndpoints ? model.endpoints.filter(isWanted) : model.endpoints;
    if (endpoints.length > 0 || !isOfEndpoints) left.push({ ...model, endpoints });
  });
  return left;
}

function requireProvider(slug: string, models: readonly ListedModel[]): void {
  const known = new Set([
    ...models.flatMap(({ endpoints }) => endpoints.map(({ provider }) => provider)),
    ...KNOWN_PROVIDERS.slugs,
  ]);
  if (known.has(slug)) return;
  const meant = nearestWord(slug, known);
  const suggestion = meant === undefined ? '' : `; did you mean ${meant}?`;
  throw new GatewayError('not-found', `there is no provider ${slug}${suggestion}`);
}

function requireParameter(name: string, models: readonly ListedModel[]): void {
  const known = new Set(
    models.flatMap(({ endpoints }) =>
      endpoints.flatMap(({ supported_parameters: parameters }) => parameters ?? []),
    ),
  );
  if (known.has(name)) return;
  const meant = nearestWord(name, known);
  const suggestion =
    meant === undefined ? `; there is ${[...known].sort().join(', ')}` : `; did you mean ${meant}?`;
  throw new GatewayError('not-found', `no model lists the parameter ${name}${suggestion}`);
}

function isFree({ current_pricing }: ListedEndpoint): boolean {
  const { prompt_per_million: prompt, completion_per_million: completion } = current_pricing as PricingEntry;
  return [prompt, completion].every((price) => price !== undefined && Number(price) === 0);
}

const MAX_NAMED_MODELS = 5;

/** One model, by id or alias. Throws 404 with the models that may be meant. */
export function* findModel(models: readonly ListedModel[], name: string): Sliced<ListedModel> {
  const found =
    models.find(({ id }) => id === name) ?? models.find(({ aliases }) => aliases?.includes(name) === true);
  if (found !== undefined) return found;
  const alike = (yield* filteredModels(models, { search: name })).map(({ id }) => id);
  const meant = similarModelId(name, models);
  const hint =
    alike.length > 0
      ? `; these have it in their names: ${someOf(alike)}`
      : meant === undefined
        ? ''
        : `; did you mean ${meant}?`;
  throw new GatewayError('not-found', `nothing is known of a model ${name}${hint}`);
}

function someOf(ids: readonly string[]): string {
  const more = ids.length - MAX_NAMED_MODELS;
  return `${ids.slice(0, MAX_NAMED_MODELS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
