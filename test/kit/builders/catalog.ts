import { siteOfEndpoint } from '../../../src/catalog/build-model.ts';
import type { Catalog, Endpoint, Model, Provider } from '../../../src/catalog/catalog.ts';
import { parsePrice } from '../../../src/kit/money.ts';

/** A provider; name only what the test is about. */
export function providerOf(changes: Partial<Provider> = {}): Provider {
  return {
    slug: 'acme',
    name: 'Acme',
    dialect: 'chat',
    baseUrl: 'http://127.0.0.1:1/v1',
    headers: {},
    auth: 'bearer',
    dataPolicy: undefined,
    timeouts: { connect: 1000, firstByte: 1000, idle: 1000, total: 5000 },
    quirks: {},
    isPublic: false,
    ...changes,
  };
}

/** An endpoint of `providerOf()`, priced at 1 and 4 USD per million tokens. */
export function endpointOf(changes: Partial<Endpoint> = {}): Endpoint {
  const provider = changes.provider ?? providerOf();
  return {
    provider,
    modelId: 'acme/large',
    upstreamModel: 'large-v1',
    tag: provider.slug,
    site: siteOfEndpoint(
      changes.modelId ?? 'acme/large',
      changes.tag ?? provider.slug,
      changes.upstreamModel ?? 'large-v1',
    ),
    quantization: undefined,
    contextLength: undefined,
    maxOutputTokens: undefined,
    supportedParameters: undefined,
    pricing: { prompt: parsePrice('0.000001') ?? 0n, completion: parsePrice('0.000004') ?? 0n },
    ...changes,
  };
}

export function modelOf(changes: Partial<Model> = {}): Model {
  return {
    id: 'acme/large',
    name: 'Acme Large',
    description: '',
    created: 0,
    contextLength: undefined,
    maxOutputTokens: undefined,
    inputModalities: ['text'],
    outputModalities: ['text'],
    aliases: [],
    quality: {},
    distillable: false,
    endpoints: [endpointOf()],
    ...changes,
  };
}

export function catalogOf(...models: Model[]): Catalog {
  const catalog: Catalog = {
    withEveryProvider: () => catalog,
    models,
    providers: [...new Set(models.flatMap((model) => model.endpoints.map(({ provider }) => provider)))],
    resolve: (id) => models.find((model) => model.id === id || model.aliases.includes(id)),
  };
  return catalog;
}
