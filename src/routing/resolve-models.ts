import type { Endpoint, Model } from '../catalog/catalog.ts';
import { unknownModelMessage } from '../catalog/knowledge/model-hint.ts';
import { isRouterId, parseLatest, routerNameOf, UNAVAILABLE_ROUTERS } from '../catalog/virtual-ids.ts';
import { GatewayError, invalidRequest } from '../ir/errors.ts';
import type { TranslationEntry } from '../ir/metadata.ts';
import { pluginPlace } from '../ir/plugins.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { lookUp } from '../kit/collections/lookup.ts';
import { quoted, shortened } from '../kit/text/quoted.ts';
import { type ModelId, parseModelId } from './resolve/model-id.ts';
import { NoModelToChoose } from './resolve/no-model-to-choose.ts';
import type { Resolution, ResolutionContext } from './resolve/resolution.ts';
import { latestOf } from './routers/latest.ts';
import { pluginSettings } from './routers/plugin-settings.ts';
import { ROUTER_OF_PLUGIN, ROUTERS } from './routers/routers.ts';
import type { RoutedModel, Variant } from './rules/routed-model.ts';

/**
 * Finds the models behind the ids of a request: models by id or alias, the newest of a family, or what a router
 * chooses. Throws 400 for an unknown id, 404 if a router has no model to choose from.
 */
export function resolveModels(request: GenerationRequest, context: ResolutionContext): Resolution {
  const { each, empty } = resolveEach(request, context);
  const idle = idlePlugins(request, context.vendor);
  const [first] = each;
  if (first === undefined) throw noModelChosen(empty, idle);
  const isPlain = request.models.length === 1 && !request.hasFallbackModels && idle.length === 0;
  if (isPlain && first.models.length === 1) return first;
  const params = each.find((resolution) => resolution.params !== undefined)?.params;
  return {
    strategy: request.hasFallbackModels ? 'fallback' : first.strategy,
    models: withoutRepeats(each.flatMap(({ models }) => models)),
    pipeline: each.flatMap(({ pipeline }) => pipeline),
    ...(params !== undefined && { params }),
    report: [
      ...empty.map(({ id, refusal }) => skipped(id, refusal)),
      ...each.flatMap(({ report }) => report),
      ...idle,
    ],
  };
}

function noModelChosen([first]: readonly EmptyRouter[], report: readonly TranslationEntry[]): GatewayError {
  if (first === undefined) return invalidRequest([{ path: 'model', message: 'is required' }]);
  const { message, choice } = first.refusal;
  return new NoModelToChoose(message, { ...choice, report });
}

interface EmptyRouter {
  readonly id: string;
  readonly refusal: NoModelToChoose;
}

/** Routers without a model to choose from are skipped: the rest of the list is their fallback. */
function resolveEach(
  request: GenerationRequest,
  context: ResolutionContext,
): { readonly each: readonly Resolution[]; readonly empty: readonly EmptyRouter[] } {
  const each: Resolution[] = [];
  const empty: EmptyRouter[] = [];
  for (const id of request.models) {
    try {
      each.push(resolveId(id, request, context));
    } catch (error) {
      if (!(error instanceof NoModelToChoose)) throw error;
      empty.push({ id, refusal: error });
    }
  }
  return { each, empty };
}

function skipped(id: string, { message }: NoModelToChoose): TranslationEntry {
  return { field: 'models', action: 'dropped', detail: `${shortened(id)}: ${message}` };
}

function resolveId(id: string, request: GenerationRequest, context: ResolutionContext): Resolution {
  // Routers first: what `catalog refresh` brings may have their ids.
  const exact = isRouterId(id, context.vendor) ? undefined : context.catalog.resolve(id);
  if (exact !== undefined) return resolvedTo(exact, id, []);
  const parsed = parseModelId(id);
  const resolution = resolveBase(parsed, request, context);
  if (resolution === undefined) {
    throw unknownModel(id, context);
  }
  return resolution;
}

function unknownModel(id: string, { catalog }: ResolutionContext): GatewayError {
  return new GatewayError('invalid-request', unknownModelMessage(id, parseModelId(id).base, catalog));
}

/** Resolves an id without its suffixes; undefined if it is unknown. */
function resolveBase(
  { base, variants }: ModelId,
  request: GenerationRequest,
  context: ResolutionContext,
): Resolution | undefined {
  const router = resolveRouter(base, variants, request, context);
  if (router !== undefined) return router;
  const model = context.catalog.resolve(base);
  return model === undefined ? resolveLatest(base, variants, context) : resolvedTo(model, base, variants);
}

function resolvedTo(model: Model, id: string, variants: readonly Variant[]): Resolution {
  const group = parseLatest(id);
  const models = [{ name: id, model, variants }];
  if (group === undefined) {
    return { strategy: model.id === id ? 'direct' : 'alias', models, pipeline: [], report: [] };
  }
  return {
    strategy: model.id === id ? 'direct' : 'latest',
    models,
    pipeline: [],
    params: { version_group: `${group.author}/${group.family}` },
    report: [],
  };
}

function resolveLatest(
  base: string,
  variants: readonly Variant[],
  { catalog }: ResolutionContext,
): Resolution | undefined {
  const group = parseLatest(base);
  const model = group === undefined ? undefined : latestOf(group, catalog);
  return model === undefined ? undefined : resolvedTo(model, base, variants);
}

function resolveRouter(
  base: string,
  variants: readonly Variant[],
  request: GenerationRequest,
  context: ResolutionContext,
): Resolution | undefined {
  const name = routerNameOf(base, context.vendor);
  if (name === undefined) return undefined;
  if (UNAVAILABLE_ROUTERS.includes(name)) throw notAvailable(quoted(base));
  const router = lookUp(ROUTERS, name);
  if (router === undefined) return undefined;
  if (request.embedding !== undefined) throw noRouterOfVectors(base);
  const settings = pluginSettings(request, router.plugin);
  const { models, ...choice } = router.choose({ request, context, settings, variants });
  return {
    ...choice,
    strategy: router.strategy,
    models: models.map((model) => ({ name: base, model, variants })),
  };
}

function notAvailable(what: string): GatewayError {
  return invalidRequest([{ path: 'model', message: `${what} is not available on this gateway` }]);
}

function noRouterOfVectors(id: string): GatewayError {
  const message = `${quoted(id)} chooses no embedding model: vectors of different models cannot be compared`;
  return invalidRequest([{ path: 'model', message }]);
}

/** Keeps each endpoint once: a repeated model keeps only the endpoints that were left out before. */
function withoutRepeats(models: readonly RoutedModel[]): RoutedModel[] {
  const ids = new Set<string>();
  const seen = new Set<Endpoint>();
  return models.flatMap(({ name, model, variants }) => {
    const isNew = !ids.has(model.id);
    ids.add(model.id);
    const endpoints = model.endpoints.filter((endpoint) => !seen.has(endpoint));
    for (const endpoint of endpoints) seen.add(endpoint);
    if (isNew) return [{ name, model, variants }];
    return endpoints.length > 0 ? [{ name, model: { ...model, endpoints }, variants }] : [];
  });
}

/** Report entries for plugins of a router that the request does not name. */
function idlePlugins(request: GenerationRequest, vendor: string): TranslationEntry[] {
  if (request.wishes.plugins.length === 0) return [];
  const names = new Set(request.models.map((id) => routerNameOf(parseModelId(id).base, vendor)));
  return request.wishes.plugins.flatMap((plugin): TranslationEntry[] => {
    const router = ROUTER_OF_PLUGIN.get(String(plugin.id));
    if (router === undefined || names.has(router)) return [];
    const detail = `it steers the model ${vendor}/${router}, which this request does not name`;
    return [{ field: pluginPlace(request, plugin), action: 'dropped', detail }];
  });
}
