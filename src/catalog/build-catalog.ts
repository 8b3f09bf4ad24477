import { PRICE_NAMES, type PriceName } from '../config/price-names.ts';
import type { DialectName, Format } from '../ir/items.ts';
import { lookUp } from '../kit/lookup.ts';
import { parsePrice } from '../kit/money.ts';
import type { Catalog, Endpoint, Model, Pricing, Provider } from './catalog.ts';
import type { DialectWord, EndpointEntry, ModelEntry, ProviderEntry } from './entries.ts';
import type { Timeouts } from './provider.ts';
import { PROVIDER_TABLE } from './provider-table.ts';
import { SIMULATOR_MODELS, SIMULATOR_PROVIDER } from './simulator-catalog.ts';

const DIALECT_OF: Readonly<Record<DialectWord, DialectName | 'simulator'>> = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'messages',
  'google-gemini': 'gemini',
  'aws-bedrock': 'bedrock',
  simulator: 'simulator',
};

/** How each dialect sends a plain credential. */
const AUTH_OF: Readonly<Record<DialectName | 'simulator', Provider['auth']>> = {
  chat: 'bearer',
  responses: 'bearer',
  messages: 'x-api-key',
  gemini: 'bearer',
  bedrock: 'bearer',
  simulator: 'none',
};

const DEFAULT_TIMEOUTS: Timeouts = { connect: 10_000, firstByte: 120_000, idle: 120_000, total: 600_000 };

/** Models that nobody dated count as made when the catalogue format was: clients want a number. */
const UNDATED = 1_735_689_600;

/** Slugs that a configuration may use without a dialect and an address. */
export const KNOWN_PROVIDERS: ReadonlySet<string> = new Set([
  ...Object.keys(PROVIDER_TABLE),
  SIMULATOR_PROVIDER.slug,
]);

/**
 * Builds the catalogue from validated entries. The simulator and its models are there when the configuration names no
 * provider at all, or names the simulator.
 */
export function buildCatalog(source: {
  readonly providers: readonly ProviderEntry[];
  readonly models: readonly ModelEntry[];
}): Catalog {
  const simulated =
    source.providers.length === 0 || source.providers.some(({ slug }) => slug === SIMULATOR_PROVIDER.slug);
  const providerEntries = source.providers.length === 0 ? [SIMULATOR_PROVIDER] : source.providers;
  const ownIds = new Set(source.models.map(({ id }) => id));
  const modelEntries: readonly ModelEntry[] = simulated
    ? [...source.models, ...SIMULATOR_MODELS.filter(({ id }) => !ownIds.has(id))]
    : source.models;

  const providers = new Map(
    [...providerEntries, ...unlisted(providerEntries, modelEntries)].map((entry) => [
      entry.slug,
      providerOf(entry),
    ]),
  );
  const models = modelEntries.map((entry) => modelOf(entry, providers)).sort((a, b) => compare(a.id, b.id));
  return { models, providers: [...providers.values()], resolve: resolver(models) };
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

function providerOf(entry: ProviderEntry): Provider {
  const row =
    entry.slug === SIMULATOR_PROVIDER.slug ? SIMULATOR_PROVIDER : lookUp(PROVIDER_TABLE, entry.slug);
  const word = entry.dialect ?? row?.dialect;
  const baseUrl = entry.base_url ?? row?.base_url;
  if (word === undefined || word === null || (baseUrl === undefined && word !== 'simulator')) {
    throw new Error(`provider ${entry.slug} has neither a dialect and address nor a row in the table`);
  }
  const dialect = DIALECT_OF[word];
  const simulatedFormat = /^simulator:\/\/(responses|messages|chat)\/?$/.exec(baseUrl ?? '')?.[1] as
    | Format
    | undefined;
  return {
    slug: entry.slug,
    name: entry.name ?? row?.name ?? entry.slug,
    dialect,
    ...(simulatedFormat !== undefined && { simulatedFormat }),
    baseUrl: (dialect === 'simulator' ? 'simulator://local' : (baseUrl ?? '')).replace(/\/+$/, ''),
    ...(entry.api_key !== undefined && entry.api_key !== null && { apiKey: entry.api_key }),
    headers: entry.headers ?? {},
    auth: AUTH_OF[dialect],
    dataPolicy: dataPolicyOf(entry, dialect),
    timeouts: timeoutsOf(entry),
  };
}

function dataPolicyOf(entry: ProviderEntry, dialect: Provider['dialect']): Provider['dataPolicy'] {
  // The simulator runs inside the gateway and keeps nothing.
  if (dialect === 'simulator') return { training: false, retainsPrompts: false };
  const policy = entry.data_policy;
  return policy ? { training: policy.training, retainsPrompts: policy.retains_prompts } : undefined;
}

function timeoutsOf({ timeouts_ms: given }: ProviderEntry): Timeouts {
  return {
    connect: given?.connect ?? DEFAULT_TIMEOUTS.connect,
    firstByte: given?.first_byte ?? DEFAULT_TIMEOUTS.firstByte,
    idle: given?.idle ?? DEFAULT_TIMEOUTS.idle,
    total: given?.total ?? DEFAULT_TIMEOUTS.total,
  };
}

function modelOf(entry: ModelEntry, providers: ReadonlyMap<string, Provider>): Model {
  return {
    id: entry.id,
    name: entry.name ?? entry.id,
    description: entry.description ?? '',
    created: entry.created ?? UNDATED,
    contextLength: entry.context_length ?? undefined,
    maxOutputTokens: entry.max_output_tokens ?? undefined,
    inputModalities: entry.input_modalities ?? ['text'],
    outputModalities: entry.output_modalities ?? ['text'],
    aliases: entry.aliases ?? [],
    quality: {
      ...(typeof entry.quality?.general === 'number' && { general: entry.quality.general }),
      ...(typeof entry.quality?.coding === 'number' && { coding: entry.quality.coding }),
    },
    distillable: entry.distillable ?? false,
    endpoints: (entry.endpoints ?? []).flatMap((endpoint) => {
      const provider = providers.get(endpoint.provider);
      return provider === undefined ? [] : [endpointOf(endpoint, entry, provider)];
    }),
  };
}

function endpointOf(entry: EndpointEntry, model: ModelEntry, provider: Provider): Endpoint {
  return {
    provider,
    modelId: model.id,
    upstreamModel: entry.model ?? model.id,
    tag: entry.tag ?? entry.provider,
    quantization: entry.quantization ?? undefined,
    contextLength: entry.context_length ?? model.context_length ?? undefined,
    maxOutputTokens: entry.max_output_tokens ?? model.max_output_tokens ?? undefined,
    supportedParameters: entry.supported_parameters ? new Set(entry.supported_parameters) : undefined,
    pricing: pricingOf(entry.pricing ?? {}),
  };
}

function pricingOf(given: Readonly<Record<string, unknown>>): Pricing {
  const pricing: Partial<Record<PriceName, bigint>> = {};
  for (const name of PRICE_NAMES) {
    const text = given[name];
    const price = typeof text === 'string' ? parsePrice(text) : undefined;
    if (price !== undefined) pricing[name] = price;
  }
  return pricing;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Provider keys in the environment that no listed provider stands for. */
export function unusedProviderKeys(
  source: { readonly providers: readonly ProviderEntry[] },
  environment: Readonly<Record<string, string | undefined>>,
): { readonly slug: string; readonly variable: string }[] {
  const listed = new Set(source.providers.map(({ slug }) => slug));
  return Object.entries(PROVIDER_TABLE).flatMap(([slug, { key_variable: variable }]) =>
    variable !== undefined && (environment[variable] ?? '') !== '' && !listed.has(slug)
      ? [{ slug, variable }]
      : [],
  );
}
