import type { Catalog, Endpoint, Model } from '../../catalog/catalog.ts';
import { unknownModelMessage } from '../../catalog/knowledge/model-hint.ts';
import { allProviders } from '../../catalog/providers/all-providers.ts';
import { endpointListSchema } from '../../contract/catalog/endpoint.ts';
import {
  modelCountSchema,
  modelListSchema,
  modelReplySchema,
  modelSchema,
} from '../../contract/catalog/model.ts';
import {
  type ModelsQuery,
  modelCountQuerySchema,
  modelsQuerySchema,
} from '../../contract/catalog/models-query.ts';
import { providerListSchema } from '../../contract/catalog/provider.ts';
import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import type { EndpointService } from '../../gateway/gateway.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import { forEachSliced, runInTurns } from '../../kit/loop/turns.ts';
import { type Call, type Route, route } from '../route.ts';
import { renderArchitecture, renderEndpoint, renderModel, renderProvider } from './catalog-objects.ts';
import { codexModels } from './codex-models.ts';
import { filterModels } from './model-filters.ts';
import { errors, NOTHING_DECLARED, ok, READ } from './row-parts.ts';

const CATALOG = { ...READ, tag: 'Catalogue' } as const;

const RETRIEVED = {
  ...CATALOG,
  request: NOTHING_DECLARED,
  responses: { 200: ok(modelSchema), ...errors(errorEnvelopeSchema, [404, 500]) },
} as const;

const DEFAULT_PAGE = 500;

/** Suffixes that say how to route to a model, not which one. */
const ROUTING_SUFFIX = /:(?:nitro|floor|exacto|online)$/;

/** Models, their endpoints and providers. */
export const CATALOG_ROUTES: readonly Route[] = [
  route({
    ...CATALOG,
    path: '/models',
    operationId: 'listModels',
    summary: 'Models that can be asked for',
    permission: 'catalogue.read',
    request: { ...NOTHING_DECLARED, query: modelsQuerySchema },
    responses: { 200: ok(modelListSchema), ...errors(errorEnvelopeSchema, [400, 500]) },
    handler: (call) => replyWithModels(call, '/models', catalogOf(call).models),
  }),
  route({
    ...CATALOG,
    path: '/models/count',
    operationId: 'countModels',
    summary: 'How many models there are',
    permission: 'catalogue.read',
    request: { ...NOTHING_DECLARED, query: modelCountQuerySchema },
    responses: { 200: ok(modelCountSchema), ...errors(errorEnvelopeSchema, [400, 500]) },
    handler: (call) => {
      const { length } = filterModels(catalogOf(call).models, call.query, call.services.clock.now());
      call.exchange.reply.json(200, { data: { count: length } });
    },
  }),
  route({
    ...CATALOG,
    path: '/models/user',
    operationId: 'listModelsForKey',
    summary: 'Models that the key may use',
    permission: 'models.read',
    request: { ...NOTHING_DECLARED, query: modelsQuerySchema },
    responses: { 200: ok(modelListSchema), ...errors(errorEnvelopeSchema, [400, 401, 500]) },
    handler: async (call) => {
      await replyWithModels(call, '/models/user', await call.services.gateway.modelsFor(call.caller));
    },
  }),
  route({
    ...CATALOG,
    path: '/model/{author}/{slug}',
    operationId: 'getModel',
    summary: 'One model, by id or alias',
    permission: 'catalogue.read',
    request: NOTHING_DECLARED,
    responses: { 200: ok(modelReplySchema), ...errors(errorEnvelopeSchema, [404, 500]) },
    handler: (call) => {
      call.exchange.reply.json(200, { data: renderModel(findModel(call), call.settings.basePath) });
    },
  }),
  route({
    ...RETRIEVED,
    path: '/models/{author}/{slug}',
    operationId: 'retrieveModel',
    summary: 'One model, in the shape of `models.retrieve` of the OpenAI and Anthropic clients',
    permission: 'catalogue.read',
    handler: (call) => replyWithRetrieved(call, `${call.params.author}/${call.params.slug}`),
  }),
  route({
    ...RETRIEVED,
    path: '/models/{id}',
    operationId: 'retrieveModelByEncodedId',
    summary: 'The same for clients that write the slash of an id as `%2F`',
    permission: 'catalogue.read',
    handler: (call) => replyWithRetrieved(call, call.params.id),
  }),
  route({
    ...CATALOG,
    path: '/models/{author}/{slug}/endpoints',
    operationId: 'listEndpoints',
    summary: 'The endpoints of one model',
    permission: 'endpoints.read',
    request: NOTHING_DECLARED,
    responses: { 200: ok(endpointListSchema), ...errors(errorEnvelopeSchema, [404, 500]) },
    handler: (call) => {
      const model = findModel(call);
      call.exchange.reply.json(200, {
        data: {
          id: model.id,
          name: model.name,
          created: model.created,
          description: model.description,
          architecture: renderArchitecture(model),
          endpoints: model.endpoints.map((endpoint) =>
            renderEndpoint(endpoint, model, serviceFor(call, endpoint)),
          ),
        },
      });
    },
  }),
  route({
    ...CATALOG,
    path: '/providers',
    operationId: 'listProviders',
    summary: 'Providers that serve models',
    permission: 'catalogue.read',
    request: NOTHING_DECLARED,
    responses: { 200: ok(providerListSchema), ...errors(errorEnvelopeSchema, [431, 500]) },
    // All that are known, on or not.
    handler: (call) => {
      call.exchange.reply.json(200, { data: allProviders(catalogOf(call)).map(renderProvider) });
    },
  }),
];

/**
 * The catalogue that a call sees: the operator all of it, other keys that of their workspace. Without a valid key the
 * providers that serve some workspaces alone are not in it.
 */
function catalogOf({ services, caller }: Call): Catalog {
  const catalog = services.catalog();
  if (catalog.seenFrom === undefined) return catalog;
  if (caller?.key.isManagement === true && caller.key.accountId === services.firstAccountId) return catalog;
  return catalog.seenFrom(caller?.workspaceId ?? NO_WORKSPACE);
}

/** The id of no workspace. */
const NO_WORKSPACE = '';

/** `path`: where the next page is. */
async function replyWithModels(call: Call, path: string, models: readonly Model[]): Promise<void> {
  const query = call.query;
  const matching = filterModels(models, query, call.services.clock.now());
  const { page, next, hasMore } = pageOf(matching, query);
  const data: ReturnType<typeof renderModel>[] = [];
  const render = (model: Model) => data.push(renderModel(model, call.settings.basePath));
  await runInTurns(forEachSliced(page, render));
  call.exchange.reply.json(200, {
    object: 'list',
    data,
    has_more: hasMore,
    first_id: page.at(0)?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    links: { next: next === undefined ? null : nextLink(call, path, next) },
    total_count: matching.length,
    ...(query.client_version !== undefined && { models: codexModels(page) }),
  });
}

function replyWithRetrieved(call: Call, id: string): void {
  const { settings, exchange } = call;
  const catalog = catalogOf(call);
  const model = resolveVariant(catalog, id);
  if (model === undefined) {
    throw new GatewayError('not-found', unknownModelMessage(id, id, catalog));
  }
  exchange.reply.json(200, renderModel(model, settings.basePath));
}

/** Latency and throughput are shown only to callers with a key. */
function serviceFor({ services, caller }: Call, endpoint: Endpoint): EndpointService {
  const service = services.gateway.serviceOf(endpoint);
  return caller === undefined ? { ...service, latency30m: null, throughput30m: null } : service;
}

function findModel(call: Call): Model {
  const { params } = call;
  const model = resolveVariant(catalogOf(call), `${params.author}/${params.slug}`);
  if (model === undefined) throw new GatewayError('not-found', 'Resource not found');
  return model;
}

/** A model by id or alias; suffixes that belong to no model of their own are taken off, one after the other. */
function resolveVariant(catalog: Catalog, id: string): Model | undefined {
  const model = catalog.resolve(id);
  if (model !== undefined || !ROUTING_SUFFIX.test(id)) return model;
  return resolveVariant(catalog, id.replace(ROUTING_SUFFIX, ''));
}

interface Page {
  readonly page: readonly Model[];
  /** Where the next page starts; absent = nowhere. */
  readonly next?: number;
  /** Whether there are more in the direction in which the caller pages. */
  readonly hasMore: boolean;
}

/** The whole list if the query names neither a size nor a place. */
function pageOf(models: readonly Model[], query: ModelsQuery): Page {
  const { offset, limit, after_id: afterId, before_id: beforeId } = query;
  const places = Object.entries({ offset, after_id: afterId, before_id: beforeId }).filter(
    ([, value]) => value !== undefined,
  );
  const [, second] = places;
  if (second !== undefined) {
    throw invalidRequest([{ path: second[0], message: `cannot be combined with ${places[0]?.[0]}` }]);
  }
  if (places.length === 0 && limit === undefined) return { page: models, hasMore: false };
  const size = limit ?? DEFAULT_PAGE;
  if (beforeId !== undefined) {
    const end = placeOf(beforeId, 'before_id', models);
    const start = Math.max(0, end - size);
    return { page: models.slice(start, end), next: end, hasMore: start > 0 };
  }
  const start = afterId === undefined ? (offset ?? 0) : placeOf(afterId, 'after_id', models) + 1;
  const end = start + size;
  const hasMore = end < models.length;
  return { page: models.slice(start, end), ...(hasMore && { next: end }), hasMore };
}

function placeOf(id: string, path: string, models: readonly Model[]): number {
  const place = models.findIndex((model) => model.id === id);
  if (place === -1) throw invalidRequest([{ path, message: 'is not the id of a model of this list' }]);
  return place;
}

function nextLink({ rawQuery, query, settings }: Call, path: string, offset: number): string {
  const next = new URLSearchParams(rawQuery);
  next.delete('after_id');
  next.delete('before_id');
  next.set('offset', String(offset));
  next.set('limit', String(query.limit ?? DEFAULT_PAGE));
  return `${settings.basePath}${path}?${next}`;
}
