import type { Catalog, Model } from '../catalog/catalog.ts';
import { GatewayError, invalidRequest } from '../ir/errors.ts';
import type { Strategy, TranslationEntry } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { quoted, shortened } from '../kit/quoted.ts';
import type { Candidate, Rejection } from '../routing/candidate.ts';
import { candidatesOf } from '../routing/candidates.ts';
import type { Stage } from '../stages/stage.ts';

/** Where a request may go, in order. */
export interface Plan {
  /** The model as the caller wrote it. */
  readonly requested: string;
  readonly strategy: Strategy;
  /** Never empty. */
  readonly candidates: readonly Candidate[];
  readonly rejected: readonly Rejection[];
  /** Stages that have something to do, outermost first. */
  readonly stages: readonly Stage[];
  /** Wishes that were understood and could not be honoured. */
  readonly report: readonly TranslationEntry[];
}

/** Every endpoint was ruled out. */
export class NothingLeft extends GatewayError {
  /** What is known of the plan that came to nothing. */
  readonly plan: Pick<Plan, 'requested' | 'strategy' | 'rejected'>;

  constructor(kind: 'not-found' | 'context-length', message: string, plan: NothingLeft['plan']) {
    super(kind, message);
    this.plan = plan;
  }
}

/** Suffixes that change how a model is routed; known by name, not served yet. */
const VARIANTS = ['nitro', 'floor', 'exacto', 'online', 'free', 'extended', 'thinking'];

/** Slugs behind the operator's word that stand for a choice of model; known by name, not served yet. */
const ROUTERS = ['auto', 'auto-beta', 'pareto-code', 'free', 'fusion', 'fusion-flash', 'bodybuilder'];

/** Wishes that are understood and cannot be honoured yet, with what happens instead. */
const UNSUPPORTED_WISHES: readonly (readonly [
  field: string,
  isWished: (request: GenerationRequest) => boolean,
  detail: string,
])[] = [
  ...['sort', 'preferred_min_throughput', 'preferred_max_latency'].map(
    (name) =>
      [
        `provider.${name}`,
        ({ wishes }: GenerationRequest) => wishes.provider[name] !== undefined,
        'endpoints are tried in their configured order; this preference is not available yet',
      ] as const,
  ),
  [
    'route',
    ({ wishes }) => wishes.route === 'sort',
    'models are tried in the order of the request; sorting across models is not available yet',
  ],
  [
    'stop_server_tools_when',
    ({ wishes }) => wishes.stopServerToolsWhen !== undefined,
    'the gateway runs no tools itself yet, so there is no loop to stop',
  ],
];

/** Plans a request, or throws why it cannot be served: 400 for an unknown model, 404 when every endpoint is ruled out. */
export function planRequest(
  request: GenerationRequest,
  catalog: Catalog,
  allStages: readonly Stage[],
  vendor: string,
): Plan {
  const requested = request.models[0] ?? '';
  const strategy = strategyOf(request, catalog);
  const models = [...new Set(request.models.map((id) => modelOf(id, catalog, vendor)))];
  const stages = allStages.filter((stage) => stage.isActive(request));
  const { accepted, rejected } = candidatesOf(request, models, stages.length === 0);
  if (accepted.length === 0) {
    const message = nothingLeftMessage(requested, models, rejected);
    throw new NothingLeft('not-found', message, { requested, strategy, rejected });
  }
  return {
    requested,
    strategy,
    candidates: accepted,
    rejected,
    stages,
    report: reportOf(request),
  };
}

function modelOf(id: string, catalog: Catalog, vendor: string): Model {
  const model = catalog.resolve(id);
  if (model !== undefined) return model;
  const base = withoutVariants(id);
  if (ROUTERS.some((name) => base === `${vendor}/${name}`) || id.includes('@preset/')) {
    throw invalidRequest([{ path: 'model', message: `${quoted(id)} is not available on this gateway` }]);
  }
  if (catalog.resolve(base) !== undefined) {
    const variant = id.slice(base.length);
    throw invalidRequest([
      { path: 'model', message: `the variant ${quoted(variant)} is not available on this gateway` },
    ]);
  }
  throw new GatewayError('invalid-request', `${shortened(id)} is not a valid model ID`);
}

/** A model id without the known suffixes at its end, of which there may be several: `:nitro:online`. */
function withoutVariants(id: string): string {
  const colon = id.lastIndexOf(':');
  return colon > 0 && VARIANTS.includes(id.slice(colon + 1)) ? withoutVariants(id.slice(0, colon)) : id;
}

function strategyOf(request: GenerationRequest, catalog: Catalog): Strategy {
  if (request.hasFallbackModels) return 'fallback';
  const id = request.models[0] ?? '';
  return catalog.resolve(id)?.id === id ? 'direct' : 'alias';
}

function nothingLeftMessage(
  requested: string,
  models: readonly Model[],
  rejected: readonly Rejection[],
): string {
  if (rejected.length === 0) return `No endpoints found for ${requested}`;
  const reasons = rejected.map(
    ({ endpoint, filter, reason }) => `${endpoint.provider.name} (${endpoint.tag}): ${filter}: ${reason}`,
  );
  const served = models.length > 1 ? 'the requested models' : requested;
  return `No allowed providers are available for ${served}. Ruled out: ${reasons.join('; ')}`;
}

function reportOf(request: GenerationRequest): TranslationEntry[] {
  return UNSUPPORTED_WISHES.filter(([, isWished]) => isWished(request)).map(([field, , detail]) => ({
    field,
    action: 'dropped',
    detail,
  }));
}
