import type { Catalog, Model } from '../../catalog/catalog.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { canRelay } from '../../dialects/lane.ts';
import { longestOf } from '../../ir/embedding.ts';
import type { RequestFormat } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { textAt } from '../../kit/json/members.ts';
import { andThen } from '../../kit/loop/and-then.ts';
import { inTurn } from '../../kit/loop/turns.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { ByokCredential, ByokCredentials } from '../../ports/tenancy/byok-credentials.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import type { Pins } from '../../routing/conversation/pins.ts';
import type { Health } from '../../routing/health/health.ts';
import { accessesTo, isOpenTo } from '../../routing/rules/access.ts';
import { callerFilters, isModelAllowed } from '../../routing/rules/caller-rules.ts';
import type { Traffic } from '../../routing/traffic.ts';
import type { Stage } from '../../stages/stage.ts';
import { Prompt } from '../../tokens/prompt.ts';
import type { Tokenizer } from '../../tokens/tokenizer.ts';
import type { AcceptedRequest } from '../request/accept-request.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import type { GatewaySettings } from '../request/settings.ts';
import { fitContext } from './context-length.ts';
import { findSharedPin, type Plan, type PlanContext, planRequest } from './plan.ts';

export interface PlanDependencies {
  /** Credentials that callers brought. */
  readonly byokCredentials: ByokCredentials;
  readonly stages: readonly Stage[];
  readonly health: Pick<Health, 'forAccount'>;
  readonly memory: { readonly pins: Pins; readonly traffic: Traffic };
  /** 0 <= number < 1, for draws among endpoints. */
  readonly random: () => number;
  readonly tokenizer: Tokenizer;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export interface LegPlan {
  readonly plan: Plan;
}

/**
 * Plans one leg, mostly at once. Considers the length of the prompt and items of types that not all dialects have.
 * Throws a GatewayError.
 */
export function planLeg(
  accepted: AcceptedRequest,
  input: GenerationInput,
  settings: GatewaySettings,
  mayRelay: boolean,
  dependencies: PlanDependencies,
): LegPlan | Promise<LegPlan> {
  const { request, prompt } = accepted;
  const { clock, tokenizer } = dependencies;
  return andThen(dependencies.byokCredentials.of(input.caller), (byok) => {
    const context: PlanContext = {
      requested: textAt(input.body, 'model') ?? request.models[0] ?? '',
      catalog: catalogFor(byok, settings.catalog),
      vendor: settings.vendor,
      autoModels: settings.autoModels,
      fusion: settings.fusion,
      mayRelay,
      stages: dependencies.stages,
      accountId: input.caller.accountId,
      sessionId: input.sessionId,
      byok,
      callerRules: callerFilters(input.caller),
      health: dependencies.health.forAccount(input.caller.accountId),
      pins: dependencies.memory.pins,
      traffic: dependencies.memory.traffic,
      random: dependencies.random,
    };
    const planning = andThen(findSharedPin(request, context), () =>
      inTurn(clock, () => planRequest(request, context)),
    );
    const fitting = andThen(planning, (first) => {
      const replan = (promptTokens: number) => planRequest(request, context, promptTokens);
      return fitContext(first, longestPrompt(request, prompt), replan, { tokenizer, signal: input.signal });
    });
    return andThen(fitting, (plan) => inOrder(plan, accepted, clock));
  });
}

/** The plan with the report on the request; endpoints that know the types of its items first. */
function inOrder(
  plan: Plan,
  { request, report }: AcceptedRequest,
  clock: PlanDependencies['clock'],
): LegPlan | Promise<LegPlan> {
  const { hasUnknownTypes } = DIALECTS[request.format].inbound;
  const isAsked = hasUnknownTypes !== undefined && isMixed(plan.candidates, request.format);
  return andThen(isAsked && inTurn(clock, () => hasUnknownTypes(request)), (isOwnFirst) => {
    if (!isOwnFirst && report.length === 0) return { plan };
    const candidates = isOwnFirst ? ownFirst(plan.candidates, request.format) : plan.candidates;
    return { plan: { ...plan, candidates, report: [...report, ...plan.report] } };
  });
}

/** The length that must fit an endpoint's context at once: of embeddings the longest input. */
function longestPrompt(request: GenerationRequest, prompt: Prompt) {
  const { embedding } = request;
  if (embedding === undefined || embedding.inputs.length === 1) return { request, prompt };
  const inputs = [longestOf(embedding.inputs)];
  return { request, prompt: new Prompt({ ...request, embedding: { ...embedding, inputs } }) };
}

/** True if some endpoints speak the format of the request, and others do not. */
function isMixed(candidates: Plan['candidates'], format: RequestFormat): boolean {
  return (
    candidates.some(({ endpoint }) => canRelay(endpoint, format)) &&
    candidates.some(({ endpoint }) => !canRelay(endpoint, format))
  );
}

/** Of each model the endpoints that speak the format of the request before the others. */
function ownFirst(candidates: Plan['candidates'], format: RequestFormat): Plan['candidates'] {
  const ofModels = new Map<Model, Plan['candidates'][number][]>();
  for (const isOwn of [true, false]) {
    for (const candidate of candidates) {
      if (canRelay(candidate.endpoint, format) !== isOwn) continue;
      const ofModel = ofModels.get(candidate.model);
      if (ofModel === undefined) ofModels.set(candidate.model, [candidate]);
      else ofModel.push(candidate);
    }
  }
  return candidates.map((candidate) => ofModels.get(candidate.model)?.shift() ?? candidate);
}

/**
 * The models that a caller can reach, and that its key and guardrails allow. Models without an endpoint are in the
 * catalogue, so they are in the list.
 */
export async function reachableModels(
  caller: Caller,
  catalog: Catalog,
  { byokCredentials }: Pick<PlanDependencies, 'byokCredentials'>,
): Promise<readonly Model[]> {
  const byok = await byokCredentials.of(caller);
  const { models } = catalogFor(byok, catalog);
  const reachable = byok.length === 0 ? models : models.filter((model) => isReachable(model, byok));
  if (callerFilters(caller).length === 0) return reachable;
  return reachable.filter((model) =>
    isModelAllowed(model, caller, (endpoint) => accessesTo(endpoint, model, byok)),
  );
}

function isReachable(model: Model, byok: readonly ByokCredential[]): boolean {
  const { endpoints } = model;
  return endpoints.length === 0 || endpoints.some((endpoint) => isOpenTo(endpoint, model, byok));
}

/** The catalogue with the providers that BYOK credentials open although the gateway has no credential for them. */
export function catalogFor(byok: readonly ByokCredential[], catalog: Catalog): Catalog {
  if (byok.length === 0) return catalog;
  const isKnown = (slug: string) => catalog.providers.some((provider) => provider.slug === slug);
  return byok.every(({ provider }) => isKnown(provider)) ? catalog : catalog.withEveryProvider();
}
