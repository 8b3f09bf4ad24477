import type { GenerationRequest } from '../../ir/request.ts';
import type { RequestField } from '../../ir/settings.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import { membersBeyond } from '../../kit/json/members.ts';
import type { RenderTarget } from '../dialect.ts';
import { INCLUDE_LOGPROBS, INCLUDE_SEALS } from '../shared/include-values.ts';
import {
  dropped,
  droppedExcept,
  type FieldFates,
  is,
  isEmpty,
  isTaken,
  NO_FIELD,
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

export const NO_CACHE_MARKS = 'the upstream caches on its own and takes no marks';
export const FOREIGN_SEAL = 'sealed by another model family: the upstream would refuse it';

// --- Fields of the request ------------------------------------------------------------------------------------------

const FATES: FieldFates = {
  temperature: rendered('temperature'),
  topP: rendered('top_p'),
  topK: rendered('top_k'),
  topA: dropped(NO_FIELD, is(0)),
  minP: dropped(NO_FIELD, is(0)),
  frequencyPenalty: rendered('frequency_penalty'),
  presencePenalty: rendered('presence_penalty'),
  repetitionPenalty: dropped(NO_FIELD, is(1)),
  seed: rendered('seed'),
  stop: rendered('stop'),
  logitBias: dropped(NO_FIELD, isEmpty),
  logprobs: rendered('logprobs', 'top_logprobs'),
  topLogprobs: rendered('top_logprobs'),
  requestedOutputTokens: rendered(),
  tools: rendered('tools'),
  toolChoice: rendered('tool_choice', 'tools'),
  parallelToolCalls: rendered(),
  reasoning: rendered('reasoning', 'reasoning_effort', 'include_reasoning'),
  outputFormat: rendered('response_format', 'structured_outputs'),
  verbosity: dropped(NO_FIELD),
  imageConfig: rendered(),
  promptCacheKey: dropped(NO_FIELD),
  promptCacheOptions: dropped(NO_FIELD, isEmpty),
  metadata: dropped(NO_FIELD, isEndUserOnly),
  modalities: rendered(),
  cache: dropped(NO_CACHE_MARKS),
  serviceTier: rendered(),
  speed: dropped(NO_FIELD, is('standard')),
  truncation: dropped(NO_FIELD, is('disabled')),
  include: droppedExcept([INCLUDE_SEALS, INCLUDE_LOGPROBS], 'the upstream has nothing of that kind'),
  items: rendered(),
};

/** True for metadata with an end-user id alone: upstreams without a field for it need none. */
function isEndUserOnly(metadata: unknown): boolean {
  return isJsonObject(metadata) && membersBeyond(metadata, END_USER) === undefined;
}

const END_USER: ReadonlySet<string> = new Set(['user_id']);

export function takes(field: RequestField, target: RenderTarget): boolean {
  return isTaken(FATES[field], target);
}

export function reportLosses(request: GenerationRequest, report: Report): void {
  reportDroppedFields(request, FATES, report);
  reportToolCallLimit(request, NO_FIELD, report);
  reportForeignFields(request, 'gemini', NO_FIELD, report);
  reportUnknownFields(request, () => UNDOCUMENTED, report);
}

// --- Members of items, parts and tools ------------------------------------------------------------------------------

export const reportForeignMembers = foreignMemberReport('gemini', NO_FIELD, NO_CACHE_MARKS);
