import { outputLimitAt } from '../catalog/output-limit.ts';
import { priceOfAnswer } from '../catalog/prices/answer-price.ts';
import { DIALECTS } from '../dialects/dialects.ts';
import type { Lane } from '../dialects/lane.ts';
import { outputAskedFor } from '../dialects/shared/requests/output-limit.ts';
import type { GatewayError } from '../ir/errors.ts';
import type { RequestFormat } from '../ir/items.ts';
import type { PipelineEntry, Strategy, TranslationEntry } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { NO_USAGE } from '../ir/usage.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { objectAt, stringAt } from '../kit/json/members.ts';
import { formatPrice, usdOf } from '../kit/money.ts';
import type { HealthState, HealthView } from '../routing/health/endpoint-health.ts';
import { type RankedCandidate, type Rejection, siteOf } from '../routing/rules/candidate.ts';
import { withServerTools } from '../stages/tool-loop/tool-loop-stage.ts';
import { withinPrices } from './admission/unpriced.ts';
import { stagesFor } from './generation/accepted-generation.ts';
import type { GatewayDependencies } from './generation/gateway-dependencies.ts';
import { NothingLeft, type Plan } from './plan/plan.ts';
import { planCompressed } from './plan/plan-compressed.ts';
import { acceptRequest } from './request/accept-request.ts';
import type { ContentRoom } from './request/content-room.ts';
import type { GenerationInput } from './request/generation-input.ts';
import { countInputImages } from './request/input-images.ts';

/** How a request would be routed, with the member names of the wire. */
export interface Explanation {
  readonly requested: string;
  readonly strategy: Strategy;
  /** In the order of the attempts. */
  readonly candidates: readonly ExplainedCandidate[];
  readonly rejected: readonly {
    readonly provider: string;
    readonly tag: string;
    readonly model: string;
    readonly filter: string;
    readonly reason: string;
  }[];
  /** Estimate for the first candidate; null if its output has no limit. */
  readonly estimate: {
    readonly prompt_tokens: number;
    readonly max_output_tokens: number | null;
    readonly max_cost_usd: number | null;
  };
  readonly params?: JsonObject;
  readonly pipeline?: readonly PipelineEntry[];
  /** Wishes that no endpoint can honour. */
  readonly translation?: readonly TranslationEntry[];
  /** The error that the caller would get if no endpoint is left. */
  readonly error?: { readonly code: number; readonly message: string };
}

export interface ExplainedCandidate {
  /** From 1. */
  readonly rank: number;
  readonly provider: string;
  readonly tag: string;
  readonly model: string;
  /** `shared`, or `byok:` and the id of the caller's credential. */
  readonly credential: string;
  readonly lane: Lane;
  readonly price: { readonly prompt: string; readonly completion: string };
  /** Probability of the first place; null if there was no draw. */
  readonly weight: number | null;
  readonly sticky: boolean;
  readonly health: {
    readonly state: HealthState;
    /** Present unless `ok`: whether the state applies to all callers or to the account. */
    readonly scope?: 'everyone' | 'account';
    readonly failures: number;
    /** Present while the provider's rate limit pauses it. */
    readonly retry_after_seconds?: number;
    readonly latency_p50_ms: number | null;
    readonly throughput_p50: number | null;
  };
  /** Null for candidates far beyond the number of attempts. */
  readonly translation: readonly TranslationEntry[] | null;
}

export interface ExplainDependencies {
  readonly health: HealthView;
  /** Reports losses and changes of the translation for a candidate. */
  readonly preview: (candidate: RankedCandidate) => Promise<readonly TranslationEntry[]>;
  readonly promptTokens: number;
  readonly nowMs: number;
}

/**
 * Candidates whose translation is previewed: far more than a request tries. Each preview costs as much as a request.
 */
const MAX_PREVIEWED_CANDIDATES = 16;

/** Explains a plan without carrying it out. */
export async function explainPlan(
  request: GenerationRequest,
  plan: Plan,
  dependencies: ExplainDependencies,
): Promise<Explanation> {
  const [first] = plan.candidates;
  const candidates: ExplainedCandidate[] = [];
  for (const [index, candidate] of plan.candidates.entries()) {
    const translation = index < MAX_PREVIEWED_CANDIDATES ? await dependencies.preview(candidate) : null;
    candidates.push(explained(candidate, index + 1, translation, dependencies));
  }
  return {
    requested: plan.requested,
    strategy: plan.strategy,
    candidates,
    rejected: plan.rejected.map(explainedRejection),
    estimate: estimateOf(request, first, dependencies),
    ...(plan.params !== undefined && { params: plan.params }),
    ...(plan.pipeline.length > 0 && { pipeline: plan.pipeline }),
    ...(plan.report.length > 0 && { translation: plan.report }),
  };
}

/** Explains why no endpoint is left, in the words that the request itself would get. */
export function explainNothing(
  error: NothingLeft & GatewayError,
  promptTokens: number,
  { format, vendor }: { readonly format: RequestFormat; readonly vendor: string },
): Explanation {
  const { requested, strategy, rejected, params, pipeline, report } = error.plan;
  const body = DIALECTS[format].inbound.encodeError(error, { vendor, generationId: null });
  return {
    requested,
    strategy,
    candidates: [],
    rejected: rejected.map(explainedRejection),
    estimate: { prompt_tokens: promptTokens, max_output_tokens: null, max_cost_usd: null },
    ...(params !== undefined && { params }),
    ...(pipeline.length > 0 && { pipeline }),
    ...(report.length > 0 && { translation: report }),
    error: { code: error.status, message: stringAt(objectAt(body, 'error'), 'message') ?? error.message },
  };
}

function explained(
  candidate: RankedCandidate,
  rank: number,
  translation: ExplainedCandidate['translation'],
  dependencies: ExplainDependencies,
): ExplainedCandidate {
  const { endpoint, model, access, lane, weight, isSticky } = candidate;
  const health = dependencies.health.of(siteOf(endpoint, access));
  const isPaused = health.pausedUntilMs > dependencies.nowMs;
  const waitMs = Math.max(
    0,
    health.pausedUntilMs - dependencies.nowMs,
    health.deferredUntilMs - dependencies.nowMs,
  );
  return {
    rank,
    provider: endpoint.provider.name,
    tag: endpoint.tag,
    model: model.id,
    credential: access.kind === 'shared' ? 'shared' : `byok:${access.credential.id}`,
    lane,
    price: {
      prompt: formatPrice(endpoint.pricing.prompt ?? 0n),
      completion: formatPrice(endpoint.pricing.completion ?? 0n),
    },
    weight: weight ?? null,
    sticky: isSticky,
    health: {
      // A rate-limited endpoint is not called either.
      state: isPaused ? 'cooling' : health.state,
      ...((isPaused || health.state !== 'ok') && {
        scope: health.isOfAccount && !isPaused ? ('account' as const) : ('everyone' as const),
      }),
      failures: health.failures,
      ...(waitMs > 0 && { retry_after_seconds: Math.ceil(waitMs / 1000) }),
      latency_p50_ms: health.latency?.p50 ?? null,
      throughput_p50: health.throughput?.p50 ?? null,
    },
    translation,
  };
}

function explainedRejection({ endpoint, filter, reason }: Rejection) {
  return { provider: endpoint.provider.name, tag: endpoint.tag, model: endpoint.modelId, filter, reason };
}

const NO_LIMIT = { maxOutputTokens: undefined };

/** The highest cost of the first candidate: no prompt token cached, the whole output written. */
function estimateOf(
  request: GenerationRequest,
  first: RankedCandidate | undefined,
  { promptTokens, nowMs }: ExplainDependencies,
): Explanation['estimate'] {
  const outputTokens = outputLimitAt(first?.endpoint ?? NO_LIMIT, outputAskedFor(request));
  if (first === undefined || outputTokens === undefined) {
    return { prompt_tokens: promptTokens, max_output_tokens: outputTokens ?? null, max_cost_usd: null };
  }
  const usage = { ...NO_USAGE, inputTokens: promptTokens, outputTokens };
  const { endpoint, model } = first;
  const inputImages = countInputImages(request);
  const bill = priceOfAnswer({ endpoint, model, atMs: nowMs, usage, inputImages });
  return {
    prompt_tokens: promptTokens,
    max_output_tokens: outputTokens,
    max_cost_usd: usdOf(bill.totalNanos),
  };
}

/** Explains a request. Counts its prompt, because a prompt that is too long rules endpoints out too. */
export async function explainRequest(
  input: GenerationInput,
  room: ContentRoom,
  dependencies: GatewayDependencies,
): Promise<Explanation> {
  const content = room.open(input.replied);
  const settings = dependencies.settings(input.caller);
  const maxPromptTokens = async () => Number.POSITIVE_INFINITY;
  try {
    const reported = { ...input, wantsMetadata: true };
    const accepted = await acceptRequest(reported, settings, { content, maxPromptTokens }, dependencies);
    const { prompt } = accepted;
    const promptTokens = await prompt.count(dependencies.tokenizer, input.signal);
    try {
      const { stages } = stagesFor(input, accepted.request, settings, dependencies);
      const planned = await planCompressed(accepted, input, settings, stages.mayRelay, dependencies);
      const { request } = planned;
      const { key, member = [], workspace } = input.caller.limits;
      const isLimited = key.length + member.length + workspace.length > 0;
      const { plan, withoutTools } = isLimited
        ? withinPrices(planned.plan, request, dependencies.clock.now())
        : { plan: planned.plan, withoutTools: undefined };
      const paid = { withoutTools };
      return await explainPlan(request, plan, {
        health: dependencies.health.forAccount(input.caller.accountId),
        preview: ({ endpoint, lane }) => {
          const served = withServerTools(request, endpoint, settings);
          return dependencies.previewUpstream(
            served === undefined
              ? { request, endpoint, lane, paid }
              : { request: served, endpoint, lane: 'translate', paid },
          );
        },
        promptTokens,
        nowMs: dependencies.clock.now(),
      });
    } catch (error) {
      if (!(error instanceof NothingLeft)) throw error;
      return explainNothing(error, promptTokens, { format: input.format, vendor: settings.vendor });
    }
  } finally {
    void content.close();
  }
}
