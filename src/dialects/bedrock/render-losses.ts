import type { GenerationRequest } from '../../ir/request.ts';
import type { RequestField } from '../../ir/settings.ts';
import type { RenderTarget } from '../dialect.ts';
import {
  dropped,
  droppedExcept,
  type FieldFates,
  is,
  isEmpty,
  isOnly,
  isTaken,
  rendered,
  reportDroppedFields,
} from '../shared/report/field-fates.ts';
import {
  foreignMemberReport,
  reportForeignFields,
  reportToolCallLimit,
  reportUnknownFields,
  UNDOCUMENTED,
} from '../shared/report/foreign-members.ts';
import type { Report } from '../shared/report/report.ts';
import { INCLUDE_SEALS } from '../shared/requests/include-values.ts';

/** Why something is not sent. */
export const NO_FIELD = 'the upstream has no such field';

// --- Fields of the request ------------------------------------------------------------------------------------------

const FATES: FieldFates = {
  temperature: rendered('temperature'),
  topP: rendered('top_p'),
  topK: rendered('top_k'),
  topA: dropped(NO_FIELD, is(0)),
  minP: dropped(NO_FIELD, is(0)),
  frequencyPenalty: dropped(NO_FIELD, is(0)),
  presencePenalty: dropped(NO_FIELD, is(0)),
  repetitionPenalty: dropped(NO_FIELD, is(1)),
  seed: dropped(NO_FIELD),
  stop: rendered('stop'),
  logitBias: dropped(NO_FIELD, isEmpty),
  logprobs: dropped(NO_FIELD, is(false)),
  topLogprobs: dropped(NO_FIELD, is(0)),
  requestedOutputTokens: rendered(),
  tools: rendered('tools'),
  toolChoice: rendered('tool_choice'),
  parallelToolCalls: rendered(),
  reasoning: rendered('reasoning'),
  outputFormat: rendered('response_format', 'structured_outputs'),
  verbosity: dropped(NO_FIELD),
  imageConfig: dropped(NO_FIELD, isEmpty),
  promptCacheKey: dropped(NO_FIELD),
  promptCacheOptions: dropped(NO_FIELD, isEmpty),
  metadata: rendered(),
  modalities: dropped(NO_FIELD, isOnly('text')),
  cache: rendered(),
  serviceTier: rendered(),
  speed: rendered(),
  truncation: dropped(NO_FIELD, is('disabled')),
  include: droppedExcept([INCLUDE_SEALS], 'the upstream has nothing of that kind to include', {
    namesWholeList: true,
  }),
  items: rendered(),
};

/** Whether the endpoint takes a field. */
export function takes(field: RequestField, target: RenderTarget): boolean {
  return isTaken(FATES[field], target);
}

/** Reports the fields that the upstream does not have. */
export function reportLosses(request: GenerationRequest, report: Report): void {
  reportDroppedFields(request, FATES, report);
  reportToolCallLimit(request, NO_FIELD, report);
  reportForeignFields(request, 'bedrock', NO_FIELD, report);
  reportUnknownFields(request, () => UNDOCUMENTED, report);
}

// --- Members of items, parts and tools ------------------------------------------------------------------------------

export const reportForeignMembers = foreignMemberReport('bedrock', NO_FIELD);
