import { presetSlugOf } from '../../dialects/shared/presets/preset.ts';
import type { Strategy } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { originOf } from '../../kit/net/origin-of.ts';
import { writtenMoment } from '../../kit/time/written-moment.ts';
import { isOfClassifier } from '../../ports/following/classifiers.ts';
import type { GenerationRow } from '../../ports/generations/generation-row.ts';
import { parseModelId } from '../../routing/resolve/model-id.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { mustKeepNothing } from '../../routing/rules/zero-retention.ts';
import { modelsOf } from '../plan/plan.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import type { AttemptLog, RequestMembers } from './attempt-log.ts';
import { mediaOfPrompt } from './count-media.ts';
import { short, shortOrNull } from './row-values.ts';

export function requestMembers(
  input: GenerationInput,
  request: GenerationRequest,
  { plan }: AttemptLog,
): RequestMembers {
  const { attribution, caller } = input;
  const referer = attribution?.referer ?? null;
  const media = mediaOfPrompt(request);
  return {
    format: input.format,
    created_at: writtenMoment(input.acceptedAtMs),
    app_title: attribution?.title ?? null,
    app_categories: attribution?.categories === undefined ? [] : [...attribution.categories],
    origin: originOf(referer),
    http_referer: referer,
    user_agent: attribution?.userAgent ?? null,
    external_user: externalUserOf(request),
    creator_user_id: shortOrNull(caller.key.creatorUserId),
    session_id: sessionIdOf(input, request),
    request_id: attribution?.requestId ?? input.generationId,
    preset_id: shortOrNull(presetSlugOf(input.body)),
    trace: request.wishes.trace ?? null,
    router: ROUTERS.has(plan.strategy) ? shortOrNull(request.models[0]) : null,
    num_media_prompt: media.all,
    num_input_audio_prompt: media.audio,
    is_zdr: mustKeepNothing(request, caller, () => modelsOf(plan)),
    ...(request.embedding !== undefined && { api: 'embeddings' as const }),
    ...(request.decision !== undefined && {
      api: isOfClassifier(caller.scopes) ? ('classification' as const) : ('decisions' as const),
    }),
    ...(attribution?.traceparent !== undefined && traceHeaders(attribution)),
  };
}

export function externalUserOf({ user }: GenerationRequest): string | null {
  return shortOrNull(user);
}

export function sessionIdOf(input: GenerationInput, { wishes }: GenerationRequest): string | null {
  return shortOrNull(wishes.sessionId ?? input.sessionId);
}

export function traceHeaders({
  traceparent,
  tracestate,
}: Pick<GenerationRow, 'traceparent' | 'tracestate'>): Pick<GenerationRow, 'traceparent' | 'tracestate'> {
  return {
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
  };
}

export type ServingMembers = Pick<
  GenerationRow,
  'model' | 'model_permaslug' | 'variant' | 'provider_name' | 'is_byok'
>;

export function unservedMembers(request: GenerationRequest, { plan }: AttemptLog): ServingMembers {
  const model = short(plan.requested);
  return {
    model,
    model_permaslug: model,
    variant: variantOf(request, undefined),
    provider_name: null,
    is_byok: false,
  };
}

export function servingMembers(
  request: GenerationRequest,
  { model, endpoint, access }: Candidate,
): ServingMembers {
  return {
    model: short(model.id),
    model_permaslug: short(model.canonicalSlug ?? model.id),
    variant: variantOf(request, model.id),
    provider_name: endpoint.provider.name,
    is_byok: access.kind === 'byok',
  };
}

const ROUTERS: ReadonlySet<Strategy> = new Set<Strategy>(['auto', 'free', 'pareto', 'bodybuilder', 'fusion']);

/** The routing suffix of the requested model, else the suffix of the model itself. */
function variantOf({ models }: GenerationRequest, modelId: string | undefined): string {
  const { variants, base } = parseModelId(models[0] ?? '');
  return short(variants[0] ?? suffixOf(modelId ?? base) ?? 'standard');
}

/** The first suffix of a model id. */
function suffixOf(id: string): string | undefined {
  return id.includes(':') ? id.split(':')[1] : undefined;
}
