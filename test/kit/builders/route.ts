import type { Endpoint, Model } from '../../../src/catalog/catalog.ts';
import type { GenerationRequest } from '../../../src/ir/request.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import type { ByokCredential } from '../../../src/ports/tenancy/byok-credentials.ts';
import {
  type EndpointHealth,
  type HealthView,
  type Percentiles,
  UNTRIED,
} from '../../../src/routing/health/endpoint-health.ts';
import { planRoute, type RouteInput, type RoutePlan } from '../../../src/routing/plan-route.ts';
import { SHARED, siteOf } from '../../../src/routing/rules/candidate.ts';
import { needsOf } from '../../../src/routing/rules/needs.ts';
import { modelOf } from './catalog.ts';
import { requestOf } from './request.ts';

/** Input of a plan: all endpoints untried, the draw picks the cheapest. Tests override what they are about. */
export function routeOf(models: readonly Model[], changes: Partial<RouteInput> = {}): RouteInput {
  const request = changes.request ?? requestOf();
  return {
    request,
    needs: needsOf(request),
    models: models.map((model) => ({ name: model.id, model, variants: [] })),
    byok: [],
    callerRules: [],
    mayRelay: true,
    health: { of: () => UNTRIED },
    pin: undefined,
    random: () => 0,
    ...changes,
  };
}

/** A credential that a caller brought for `acme`. */
export function byokCredentialOf(changes: Partial<ByokCredential> = {}): ByokCredential {
  return {
    id: 'own-1',
    provider: 'acme',
    sortOrder: 0,
    isFallback: false,
    isRequired: false,
    isByokOnly: false,
    declaredZeroRetention: null,
    allowedModels: null,
    version: 1,
    reveal: () => 'secret',
    ...changes,
  };
}

/** The health of the shared endpoints with these tags; all others are untried. */
export function healthOf(
  endpoints: readonly Endpoint[],
  states: Readonly<Record<string, Partial<EndpointHealth>>>,
): HealthView {
  const known = new Map(
    endpoints.map((endpoint) => [siteOf(endpoint, SHARED), { ...UNTRIED, ...states[endpoint.tag] }]),
  );
  return { of: (site) => known.get(site) ?? UNTRIED };
}

/** The same value at every percentile. */
export function evenly(value: number): Percentiles {
  return { p50: value, p75: value, p90: value, p99: value };
}

/** A request with routing preferences. */
export function wishing(provider: JsonObject, changes: Partial<GenerationRequest> = {}): GenerationRequest {
  return requestOf({ wishes: { provider, plugins: [] }, ...changes });
}

/** The order of a plan: tags, those called with the caller's credential behind its id. */
export function tagsOf({ ranked }: Pick<RoutePlan, 'ranked'>): string[] {
  return ranked.map(({ endpoint, access }) =>
    access.kind === 'shared' ? endpoint.tag : `${access.credential.id}@${endpoint.tag}`,
  );
}

/** The order of the endpoints of one model. */
export function planned(endpoints: readonly Endpoint[], changes: Partial<RouteInput> = {}): string[] {
  return tagsOf(planRoute(routeOf([modelOf({ endpoints })], changes)));
}

/** Rejected endpoints with the rules that rejected them. */
export function rejectionsOf({ rejected }: RoutePlan): string[] {
  return rejected.map(({ endpoint, filter }) => `${endpoint.tag}: ${filter}`);
}
