import { DIALECTS } from '../../dialects/dialects.ts';
import { presetSlugOf } from '../../dialects/shared/presets/preset.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { RequestFormat } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { textAt } from '../../kit/json/members.ts';
import { originOf } from '../../kit/net/origin-of.ts';
import { writtenMoment } from '../../kit/time/written-moment.ts';
import type { GenerationRow } from '../../ports/generations/generation-row.ts';
import type { RefusedRequest } from '../../ports/generations/refused-requests.ts';
import type { Attribution, GenerationInput } from '../request/generation-input.ts';
import { type PlannedGeneration, rowOfNothing, settledRow } from './generation-row.ts';
import { short, shortOrNull } from './row-values.ts';
import type { Settlement } from './settle.ts';

/** A request that was refused before any upstream was called. */
export interface Refusal {
  /** The id that the caller got. */
  readonly id: string;
  readonly scopes: RefusedRequest['scopes'];
  /** Its row, made only if it gets one. */
  readonly row: () => GenerationRow;
}

/** Notes refused requests. */
export interface Refusals {
  /** Does nothing if the error is no refusal, such as a fault of the gateway. */
  note(refusal: Refusal, error: unknown): void;
}

/** What is known of a request that was not parsed. */
export interface UnparsedRequest {
  readonly format: RequestFormat;
  readonly acceptedAtMs: number;
  readonly id: string;
  /** Who made the key. */
  readonly creatorUserId: string | null;
  readonly attribution: Attribution | undefined;
  /** Absent if it was not read. */
  readonly body?: JsonObject | undefined;
  readonly sessionId?: string | undefined;
}

/** The row of a request that was refused before it was parsed. */
export function unparsedRow(request: UnparsedRequest): GenerationRow {
  const { format, acceptedAtMs, id, creatorUserId, attribution, body = {}, sessionId } = request;
  const referer = attribution?.referer ?? null;
  const { api } = DIALECTS[format].facts;
  return rowOfNothing(
    {
      format,
      created_at: writtenMoment(acceptedAtMs),
      app_title: attribution?.title ?? null,
      app_categories: attribution?.categories === undefined ? [] : [...attribution.categories],
      origin: originOf(referer),
      http_referer: referer,
      user_agent: attribution?.userAgent ?? null,
      external_user: shortOrNull(textAt(body, 'user')),
      creator_user_id: shortOrNull(creatorUserId),
      session_id: shortOrNull(textAt(body, 'session_id') ?? sessionId),
      request_id: attribution?.requestId ?? id,
      preset_id: shortOrNull(presetSlugOf(body)),
      trace: null,
      router: null,
      num_media_prompt: 0,
      num_input_audio_prompt: 0,
      is_zdr: false,
      ...(api !== undefined && { api }),
      ...(attribution?.traceparent !== undefined && {
        traceparent: attribution.traceparent,
        ...(attribution.tracestate !== undefined && { tracestate: attribution.tracestate }),
      }),
    },
    { model: short(textAt(body, 'model') ?? ''), streamed: body.stream === true },
  );
}

/** A request that the gateway got and could not parse or fill in. */
export function refusalOfInput(input: GenerationInput): Refusal {
  const { generationId: id, caller } = input;
  const { creatorUserId } = caller.key;
  return {
    id,
    scopes: caller.scopes,
    row: () => unparsedRow({ ...input, id, creatorUserId, attribution: input.attribution }),
  };
}

/** A parsed request that was refused. */
export function refusalOfGeneration(generation: PlannedGeneration, settlement: Settlement): Refusal {
  const { generationId, caller } = generation.input;
  return {
    id: generationId,
    scopes: caller.scopes,
    row: () => settledRow(generation, settlement, { endMs: 0 }),
  };
}

/** Whether an error is a refusal of the request. Faults of the gateway and of providers are none. */
export function isRefusal(error: unknown): error is GatewayError {
  return error instanceof GatewayError && (error.status < 500 || error.kind === 'overloaded');
}
