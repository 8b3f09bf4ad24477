import type { Catalog } from '../../catalog/catalog.ts';
import type { FusionSettings } from '../../catalog/fusion-team.ts';
import { type ErrorDetails, GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { PipelineEntry, Strategy, TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Pin } from '../../ports/shared/routing-memory.ts';
import type { ByokCredential } from '../../ports/tenancy/byok-credentials.ts';
import { type ConversationKey, conversationKeyOf } from '../../routing/conversation/conversation-key.ts';
import type { Pins } from '../../routing/conversation/pins.ts';
import type { HealthView } from '../../routing/health/endpoint-health.ts';
import { planRoute } from '../../routing/plan-route.ts';
import { findModelById, parseModelId } from '../../routing/resolve/model-id.ts';
import { NoModelToChoose, type RouterRule } from '../../routing/resolve/no-model-to-choose.ts';
import type { Resolution, ResolutionContext } from '../../routing/resolve/resolution.ts';
import { resolveModels } from '../../routing/resolve-models.ts';
import type { RankedCandidate, Rejection } from '../../routing/rules/candidate.ts';
import { type Filter, SAFEGUARDS_FILTER } from '../../routing/rules/filters.ts';
import { refuseReasoningOff } from '../../routing/rules/mandatory-reasoning.ts';
import { refuseOtherKinds } from '../../routing/rules/model-kinds.ts';
import { needsOf } from '../../routing/rules/needs.ts';
import { preferencesOf } from '../../routing/rules/preferences.ts';
import { servability } from '../../routing/rules/servability.ts';
import type { Traffic } from '../../routing/traffic.ts';
import { type Stage, unmetWishes } from '../../stages/stage.ts';
import { hasLoopConditions } from '../../stages/tool-loop/stop-conditions.ts';

export interface Plan {
  /** The model as the caller wrote it. */
  readonly requested: string;
  readonly strategy: Strategy;
  /** Empty only in a plan without candidates. */
  readonly candidates: readonly RankedCandidate[];
  readonly rejected: readonly Rejection[];
  /** Parameters of a router's choice. */
  readonly params?: JsonObject | undefined;
  readonly pipeline: readonly PipelineEntry[];
  /** Wishes that were understood and could not be honoured. */
  readonly report: readonly TranslationEntry[];
  /** Key of the conversation's pin; absent = none. */
  readonly conversation?: ConversationKey | undefined;
}

/** The plan of a leg that calls no candidate, or none any more. */
export function planWithoutCandidates(requested: string): Plan {
  return { requested, strategy: 'direct', candidates: [], rejected: [], pipeline: [], report: [] };
}

/** Ids of the models that a plan may call. */
export function modelsOf({ candidates }: Pick<Plan, 'candidates'>): readonly string[] {
  return candidates.map(({ model }) => model.id);
}

export interface PlanContext {
  readonly requested: string;
  readonly catalog: Catalog;
  readonly vendor: string;
  /** Patterns of the models that the auto router chooses from; undefined = all. */
  readonly autoModels: readonly string[] | undefined;
  readonly fusion: FusionSettings;
  readonly mayRelay: boolean;
  /** All stages, active or not. */
  readonly stages: readonly Stage[];
  readonly accountId: string;
  /** The session that a header names. */
  readonly sessionId?: string | undefined;
  /** BYOK credentials that the caller may use. */
  readonly byok: readonly ByokCredential[];
  /** Filters by the caller's key and guardrails. */
  readonly callerRules: readonly Filter[];
  readonly health: HealthView;
  readonly pins: Pins;
  readonly traffic: Traffic;
  /** 0 <= number < 1. */
  readonly random: () => number;
}

/** Every endpoint was ruled out; by the caller's key or guardrails if the kind is `permission`. */
export class NothingLeft extends GatewayError {
  /** The plan as far as it got. */
  readonly plan: Pick<Plan, 'requested' | 'strategy' | 'rejected' | 'params' | 'pipeline' | 'report'>;

  constructor(
    kind: 'not-found' | 'context-length' | 'permission',
    message: string,
    plan: NothingLeft['plan'],
    more: ErrorDetails = {},
  ) {
    super(kind, message, more);
    this.plan = plan;
  }
}

/**
 * Plans a request. Throws if it cannot be served: 400 for an unknown model, 404 if every endpoint is ruled out, 403 if
 * the caller's key or guardrails alone have ruled them out.
 */
export function planRequest(request: GenerationRequest, context: PlanContext, promptTokens?: number): Plan {
  try {
    return planWithin(request, context, promptTokens);
  } catch (error) {
    if (!(error instanceof NothingLeft) || context.callerRules.length === 0) throw error;
    throw isServable(request, { ...context, callerRules: [] }, promptTokens)
      ? refusedToCaller(error, context.callerRules)
      : error;
  }
}

function isServable(request: GenerationRequest, context: PlanContext, promptTokens?: number): boolean {
  try {
    planWithin(request, context, promptTokens);
    return true;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return false;
  }
}

/** The 403 for a request that could be served to another caller. */
function refusedToCaller({ plan }: NothingLeft, callerRules: readonly Filter[]): NothingLeft {
  const names = new Set(callerRules.map(({ name }) => name));
  const patterns = [...new Set(plan.rejected.map(({ filter }) => filter).filter((name) => names.has(name)))];
  const message = `This key may not use ${plan.requested}: ${reasonsOf(plan.rejected)}`;
  return new NothingLeft('permission', message, plan, { metadata: { patterns } });
}

/** Fetches the pin of a conversation that the caller has named from other processes, if this one has none. */
export function findSharedPin(
  request: GenerationRequest,
  context: PlanContext,
): Promise<unknown> | undefined {
  if (!context.pins.isShared) return undefined;
  const conversation = conversationOf(request, context);
  return conversation?.kind === 'explicit' ? context.pins.fetch(conversation.key) : undefined;
}

function conversationOf(
  request: GenerationRequest,
  { accountId, sessionId, catalog }: PlanContext,
): ConversationKey | undefined {
  const modelId = conversationModel(request, catalog);
  return conversationKeyOf(request, { accountId, modelId, sessionHeader: sessionId });
}

function planWithin(request: GenerationRequest, context: PlanContext, promptTokens?: number): Plan {
  const { requested, byok, callerRules, health } = context;
  const conversation = conversationOf(request, context);
  const pin = conversation && pinOf(conversation, context.pins);
  const needs = promptTokens === undefined ? needsOf(request) : { ...needsOf(request), promptTokens };
  const resolution = resolved(request, context, {
    catalog: context.catalog,
    vendor: context.vendor,
    autoModels: context.autoModels,
    fusion: context.fusion,
    needs,
    serves: servability(needs, preferencesOf(request), byok, callerRules),
    weightedPrice: (modelId) => context.traffic.weightedPrice(modelId),
    health,
    pinnedModel: pin?.modelId,
    random: context.random,
  });
  const { strategy, pipeline, params } = resolution;
  refuseOtherKinds(request, resolution.models);
  const { models, rejected: thinking } = refuseReasoningOff(request, resolution.models);
  const route = planRoute({
    request,
    needs,
    models,
    byok,
    callerRules,
    mayRelay: context.mayRelay,
    health,
    pin: pin?.site,
    random: context.random,
  });
  const rejected = thinking.length === 0 ? route.rejected : [...thinking, ...route.rejected];
  const report = joined(unmetBy(context, request), resolution.report, route.report);
  if (route.ranked.length === 0) {
    refuseSafeguards(requested, rejected);
    const reached = { requested, strategy, rejected, pipeline, report, params };
    throw new NothingLeft('not-found', nothingLeftMessage(requested, models.length, rejected), reached);
  }
  return {
    requested,
    strategy,
    candidates: route.ranked,
    rejected,
    params,
    pipeline,
    report,
    conversation,
  };
}

/**
 * Throws 400 if endpoints were left out only because they cannot check calls. Clients look for the name of the field,
 * and then check calls themselves.
 */
function refuseSafeguards(requested: string, rejected: readonly Rejection[]): void {
  if (!rejected.some(({ filter }) => filter === SAFEGUARDS_FILTER)) return;
  const message = `no endpoint of ${requested} can take safeguards: send the request without it.${ruledOut(rejected)}`;
  throw invalidRequest([{ path: 'safeguards', message }]);
}

/** Concatenates lists; returns the only non-empty one uncopied. */
function joined(
  first: readonly TranslationEntry[],
  second: readonly TranslationEntry[],
  third: readonly TranslationEntry[],
): readonly TranslationEntry[] {
  if (first.length + second.length === 0) return third;
  return [...first, ...second, ...third];
}

/** A key is a digest, so it is computed only if there are pins. */
function pinOf(conversation: ConversationKey, pins: Pins): Pin | undefined {
  return pins.isEmpty ? undefined : pins.find(conversation.key);
}

/** The model of a conversation, whatever alias or suffix names it: for router models the router. */
function conversationModel({ models }: GenerationRequest, catalog: Catalog): string {
  const id = models[0] ?? '';
  return findModelById(id, catalog)?.id ?? parseModelId(id).base;
}

/** The models of a request. Throws NothingLeft if a router has none to choose from. */
function resolved(request: GenerationRequest, planning: PlanContext, context: ResolutionContext): Resolution {
  try {
    return resolveModels(request, context);
  } catch (error) {
    if (!(error instanceof NoModelToChoose)) throw error;
    const { message, choice } = error;
    const { requested } = planning;
    const { rule, report = [] } = choice;
    const strategy = request.hasFallbackModels ? 'fallback' : choice.strategy;
    const rejected = rejectionsAmongAll(request, planning, rule, context);
    throw new NothingLeft('not-found', message, { requested, strategy, rejected, pipeline: [], report });
  }
}

/** Rejections listed for a router, which may look at thousands of endpoints. */
const MAX_ROUTER_REJECTIONS = 100;

/** Why a router has no model to choose from: its own rule, or the rules of every request. */
function rejectionsAmongAll(
  request: GenerationRequest,
  { byok, callerRules }: PlanContext,
  rule: RouterRule | undefined,
  { catalog, needs, health, random }: ResolutionContext,
): readonly Rejection[] {
  const byRouter = rule === undefined ? [] : rejectionsBy(rule, catalog);
  const listed = new Set(byRouter.map(({ endpoint }) => endpoint));
  const models = catalog.models.map((model) => ({ name: model.id, model, variants: [] }));
  const route = planRoute({
    request,
    needs,
    models,
    byok,
    callerRules,
    mayRelay: true,
    health,
    pin: undefined,
    random,
  });
  const byRules = route.rejected.filter(({ endpoint }) => !listed.has(endpoint));
  return [...byRouter, ...byRules].slice(0, MAX_ROUTER_REJECTIONS);
}

function rejectionsBy({ filter, reason, rejects }: RouterRule, { models }: Catalog): Rejection[] {
  return models.flatMap((model) =>
    model.endpoints
      .filter((endpoint) => rejects(endpoint, model))
      .map((endpoint) => ({ endpoint, filter, reason })),
  );
}

/** Report entries for wishes that have no effect on this request. */
function unmetBy({ stages }: PlanContext, request: GenerationRequest): readonly TranslationEntry[] {
  const unmet = unmetWishes(stages, request);
  if (!hasLoopConditions(request.wishes)) return unmet;
  const detail = 'the gateway runs no tool of this request, so there is no loop to stop';
  return [{ field: 'stop_server_tools_when', action: 'dropped', detail }, ...unmet];
}

/** The 404 for a plan whose last candidates were rejected after planning. */
export function nothingLeftFor(plan: Plan): NothingLeft {
  return new NothingLeft('not-found', nothingLeftMessage(plan.requested, 1, plan.rejected), plan);
}

/** Endpoints that a message names, at most. */
const MAX_NAMED_ENDPOINTS = 20;

function nothingLeftMessage(requested: string, models: number, rejected: readonly Rejection[]): string {
  if (rejected.length === 0) return `No endpoints found for ${requested}`;
  const served = models > 1 ? 'the requested models' : requested;
  return `No allowed providers are available for ${served}.${ruledOut(rejected)}`;
}

/** Each reason once; with more than one, the endpoints that each ruled out. */
function reasonsOf(rejected: readonly Rejection[]): string {
  const names = new Map<string, Set<string>>();
  for (const { endpoint, reason } of rejected) {
    const known = names.get(reason) ?? new Set();
    names.set(reason, known.add(endpoint.provider.name));
  }
  const [only] = names.keys();
  if (names.size === 1 && only !== undefined) return only;
  return [...names].map(([reason, providers]) => `${reason} (${[...providers].join(', ')})`).join('; ');
}

/** A sentence about rejected endpoints. */
function ruledOut(rejected: readonly Rejection[]): string {
  const reasons = rejected
    .slice(0, MAX_NAMED_ENDPOINTS)
    .map(
      ({ endpoint, filter, reason }) => `${endpoint.provider.name} (${endpoint.tag}): ${filter}: ${reason}`,
    );
  const more =
    rejected.length > MAX_NAMED_ENDPOINTS ? `; and ${rejected.length - MAX_NAMED_ENDPOINTS} more` : '';
  return ` Ruled out: ${reasons.join('; ')}${more}`;
}
