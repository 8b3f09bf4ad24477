import type { Catalog, Endpoint, Model } from '../../catalog/catalog.ts';
import { allProviders } from '../../catalog/providers/all-providers.ts';
import { type ModelsQuery, modelsQuerySchema } from '../../contract/models-query.ts';
import type { EndpointService } from '../../gateway/gateway.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import { renderArchitecture, renderEndpoint, renderModel, renderProvider } from './catalog-objects.ts';
import { filterModels } from './model-filters.ts';
import type { Call, Handler } from './route.ts';

const DEFAULT_PAGE = 500;

/** Suffixes that say how to route to a model, not which one. */
const ROUTING_SUFFIX = /:(?:nitro|floor|exacto|online)$/;

/** Ranges that clients know (benchmark scores and the like) and that the query does not declare. */
const RANGE = /^(?:min|max)_/;

/** `GET /models`. */
export const listModels: Handler = (call) => {
  replyWithModels(call, '/models', call.services.catalog().models);
};

/** `GET /models/user`. */
export const listModelsForKey: Handler = async (call) => {
  const { caller, services } = call;
  if (caller === undefined) throw new Error('this route must require a key');
  replyWithModels(call, '/models/user', await services.gateway.modelsFor(caller));
};

/** `path`: where the next page is. */
function replyWithModels(call: Call, path: string, models: readonly Model[]): void {
  refuseUnknownRanges(call.rawQuery);
  const query = call.query as ModelsQuery;
  const matching = filterModels(models, query, call.services.clock.now());
  const { page, next } = pageOf(matching, query);
  call.exchange.reply.json(200, {
    data: page.map((model) => renderModel(model, call.settings.basePath)),
    links: { next: next === undefined ? null : nextLink(call, path, next) },
    total_count: matching.length,
  });
}

/** `GET /models/count`. */
export const countModels: Handler = ({ services, query, exchange }) => {
  const { length } = filterModels(services.catalog().models, query as ModelsQuery, services.clock.now());
  exchange.reply.json(200, { data: { count: length } });
};

/** `GET /model/{author}/{slug}`. */
export const showModel: Handler = (call) => {
  call.exchange.reply.json(200, { data: renderModel(findModel(call), call.settings.basePath) });
};

/** `GET /models/{author}/{slug}/endpoints`. */
export const listEndpoints: Handler = (call) => {
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
};

/** How fast an endpoint is, is told to those who have a key. */
function serviceFor({ services, caller }: Call, endpoint: Endpoint): EndpointService {
  const service = services.gateway.serviceOf(endpoint);
  return caller === undefined ? { ...service, latency30m: null, throughput30m: null } : service;
}

/** `GET /providers`: all that are known, on or not. */
export const listProviders: Handler = ({ services, exchange }) => {
  exchange.reply.json(200, { data: allProviders(services.catalog()).map(renderProvider) });
};

function findModel({ params, services }: Call): Model {
  const model = resolveVariant(services.catalog(), `${params.author}/${params.slug}`);
  if (model === undefined) throw new GatewayError('not-found', 'Resource not found');
  return model;
}

/** A model by id or alias; suffixes that belong to no model of their own are taken off, one after the other. */
function resolveVariant(catalog: Catalog, id: string): Model | undefined {
  const model = catalog.resolve(id);
  if (model !== undefined || !ROUTING_SUFFIX.test(id)) return model;
  return resolveVariant(catalog, id.replace(ROUTING_SUFFIX, ''));
}

/** Without `offset` and `limit` the whole list. `next`: where the next page starts. */
function pageOf(models: readonly Model[], query: ModelsQuery): { page: readonly Model[]; next?: number } {
  if (query.offset === undefined && query.limit === undefined) return { page: models };
  const start = query.offset ?? 0;
  const end = start + (query.limit ?? DEFAULT_PAGE);
  return { page: models.slice(start, end), ...(end < models.length && { next: end }) };
}

function nextLink({ rawQuery, query, settings }: Call, path: string, offset: number): string {
  const next = new URLSearchParams(rawQuery);
  next.set('offset', String(offset));
  next.set('limit', String((query as ModelsQuery).limit ?? DEFAULT_PAGE));
  return `${settings.basePath}${path}?${next}`;
}

function refuseUnknownRanges(rawQuery: URLSearchParams): void {
  const unknown = [...rawQuery.keys()].filter(
    (name) => RANGE.test(name) && !Object.hasOwn(modelsQuerySchema.properties, name),
  );
  if (unknown.length === 0) return;
  throw invalidRequest(
    unknown.map((name) => ({
      path: name.slice(0, 64),
      message: 'is not available: this gateway has no data for this filter',
    })),
  );
}
