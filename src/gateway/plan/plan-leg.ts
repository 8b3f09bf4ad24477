import type { Catalog, Model } from '../../catalog/catalog.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { longestOf } from '../../ir/embedding.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { textAt } from '../../kit/json/members.ts';
import { inTurn } from '../../kit/loop/turns.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { ByokCredential, ByokCredentials } from '../../ports/byok-credentials.ts';
import type { Caller } from '../../ports/caller.ts';
import type { Pins } from '../../routing/conversation/pins.ts';
import type { Health } from '../../routing/health/health.ts';
import { accessesTo, isOpenTo } from '../../routing/rules/access.ts';
import { guardrailFilters, isModelAllowed } from '../../routing/rules/guardrail-rules.ts';
import type { Traffic } from '../../routing/traffic.ts';
import type { Stage } from '../../stages/stage.ts';
import { Prompt } from '../../tokens/prompt.ts';
import type { Tokenizer } from '../../tokens/tokenizer.ts';
import type { AcceptedRequest } from '../request/accept-request.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import type { GatewaySettings } from '../request/settings.ts';
import { fitContext } from './context-length.ts';
import { findSharedPin, type Plan, type PlanContext, planRequest } from './plan.ts';

/** Dependencies of planning a leg. */
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

/** The plan of a leg; `mustRelay`: only the relay lane can carry it. */
export interface LegPlan {
  readonly plan: Plan;
  readonly mustRelay: boolean;
}

/**
 * Plans one leg. Considers the length of the prompt and items that cannot be translated. Rejects with a GatewayError.
 */
export async function planLeg(
  { request, prompt, report }: AcceptedRequest,
  input: GenerationInput,
  settings: GatewaySettings,
  mayRelay: boolean,
  dependencies: PlanDependencies,
): Promise<LegPlan> {
  const byok = await dependencies.byokCredentials.of(input.caller);
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
    guardrails: guardrailFilters(input.caller.guardrails),
    health: dependencies.health.forAccount(input.caller.accountId),
    pins: dependencies.memory.pins,
    traffic: dependencies.memory.traffic,
    random: dependencies.random,
  };
  await findSharedPin(request, context);
  const first = await inTurn(dependencies.clock, () => planRequest(request, context));
  const replan = (promptTokens: number) => planRequest(request, context, promptTokens);
  const plan = await fitContext(first, longestPrompt(request, prompt), replan, {
    tokenizer: dependencies.tokenizer,
    signal: input.signal,
  });
  const { untranslatableIssues } = DIALECTS[request.format].inbound;
  const untranslatable = await inTurn(dependencies.clock, () => untranslatableIssues?.(request) ?? []);
  const mustRelay = untranslatable.length > 0;
  if (!mustRelay && report.length === 0) return { plan, mustRelay };
  const candidates = relayedOnly(plan.candidates, untranslatable);
  return { plan: { ...plan, candidates, report: [...report, ...plan.report] }, mustRelay };
}

/** The length that must fit an endpoint's context at once: of embeddings the longest input. */
function longestPrompt(request: GenerationRequest, prompt: Prompt) {
  const { embedding } = request;
  if (embedding === undefined || embedding.inputs.length === 1) return { request, prompt };
  const inputs = [longestOf(embedding.inputs)];
  return { request, prompt: new Prompt({ ...request, embedding: { ...embedding, inputs } }) };
}

/** Items that cannot be translated leave only endpoints on the relay lane. */
function relayedOnly(
  candidates: Plan['candidates'],
  issues: readonly { path: string; message: string }[],
): Plan['candidates'] {
  if (issues.length === 0) return candidates;
  const relays = candidates.filter(({ lane }) => lane === 'relay');
  if (relays.length === 0) throw invalidRequest(issues);
  return relays;
}

/**
 * The models that a caller can reach and that its guardrails allow. Models without an endpoint are in the catalogue,
 * so they are in the list.
 */
export async function reachableModels(
  caller: Caller,
  catalog: Catalog,
  { byokCredentials }: Pick<PlanDependencies, 'byokCredentials'>,
): Promise<readonly Model[]> {
  const byok = await byokCredentials.of(caller);
  const { models } = catalogFor(byok, catalog);
  const reachable = byok.length === 0 ? models : models.filter((model) => isReachable(model, byok));
  const { guardrails } = caller;
  if (guardrails.length === 0) return reachable;
  return reachable.filter((model) =>
    isModelAllowed(model, guardrails, (endpoint) => accessesTo(endpoint, model, byok)),
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
