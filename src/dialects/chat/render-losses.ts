import { conversationForm } from '../../ir/format-facts.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { RequestField } from '../../ir/settings.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { membersBeyond } from '../../kit/json/members.ts';
import type { RenderTarget } from '../dialect.ts';
import { INCLUDE_LOGPROBS } from '../shared/include-values.ts';
import {
  dropped,
  droppedExcept,
  type FieldFate,
  type FieldFates,
  is,
  isTaken,
  NOT_TAKEN,
  rendered,
  renderedIfListed,
  reportDroppedFields,
} from '../shared/report/field-fates.ts';
import {
  foreignMemberReport,
  reportForeignFields,
  reportToolCallLimit,
  reportUnknownFields,
} from '../shared/report/foreign-members.ts';
import { fieldName, REQUEST_FIELDS, type Report } from '../shared/report/report.ts';
import { facts } from './facts.ts';
import { GATEWAY_FIELDS } from './wire.ts';

export const NO_CHAT_FIELD = 'the chat format has no field for it';
export const NO_CACHE_MARKS = 'the upstream takes no cache marks here';
export const FOREIGN_SEAL =
  'sealed by an upstream of another dialect: chat upstreams get only what one of them gave';

// --- Fields of the request ------------------------------------------------------------------------------------------

const FATES: FieldFates = {
  temperature: rendered('temperature'),
  topP: rendered('top_p'),
  topK: rendered('top_k'),
  topA: rendered('top_a'),
  minP: rendered('min_p'),
  frequencyPenalty: rendered('frequency_penalty'),
  presencePenalty: rendered('presence_penalty'),
  repetitionPenalty: rendered('repetition_penalty'),
  seed: rendered('seed'),
  stop: rendered('stop'),
  logitBias: rendered('logit_bias'),
  logprobs: rendered('logprobs'),
  topLogprobs: rendered('top_logprobs'),
  requestedOutputTokens: rendered(),
  tools: rendered('tools'),
  toolChoice: rendered('tool_choice', 'tools'),
  parallelToolCalls: rendered('parallel_tool_calls', 'tools'),
  reasoning: rendered('reasoning', 'reasoning_effort', 'include_reasoning'),
  outputFormat: rendered('response_format', 'structured_outputs'),
  verbosity: rendered('verbosity'),
  imageConfig: rendered(),
  promptCacheKey: rendered(),
  promptCacheOptions: renderedIfListed('prompt_cache_options'),
  metadata: renderedIfListed('metadata'),
  modalities: rendered(),
  cache: renderedIfListed('cache_control'),
  serviceTier: rendered(),
  speed: rendered(),
  truncation: dropped('chat upstreams do not shorten prompts', is('disabled')),
  include: droppedExcept([INCLUDE_LOGPROBS], NO_CHAT_FIELD),
  items: rendered(),
};

export function takes(field: RequestField, target: RenderTarget): boolean {
  return isTaken(FATES[field], target);
}

export function reportLosses(request: GenerationRequest, report: Report): void {
  reportDroppedFields(request, FATES, report);
  reportForeignFields(request, 'chat', NO_CHAT_FIELD, report);
  reportToolCallLimit(request, NO_TOOL_CALL_LIMIT, report);
  const isOwn = request.format === 'chat';
  reportUnknownFields(
    request,
    (field) => (isOwn && !isForGateway(field) ? undefined : unknownDetail(field)),
    report,
  );
}

export const NO_TOOL_CALL_LIMIT =
  'chat upstreams have no field for it, and the gateway runs no tool of this request itself';

/** True for fields that go to no upstream. */
export function isForGateway(field: string): boolean {
  return GATEWAY_FIELDS.has(field);
}

export function unknownDetail(field: string): string {
  return isForGateway(field) ? 'has no effect in this format' : 'not a known field';
}

// --- Members of items, parts and tools ------------------------------------------------------------------------------

export const reportForeignMembers = foreignMemberReport('chat', NO_CHAT_FIELD);

// --- Fields that the endpoint does not take -------------------------------------------------------------------------

/** Request fields by their name in the body, if endpoints may not take them. */
const FIELDS: ReadonlyMap<string, RequestField> = new Map(
  REQUEST_FIELDS.filter((field) => field !== 'reasoning' && isOptional(FATES[field])).map((field) => [
    fieldName(field, facts.request),
    field,
  ]),
);

/**
 * True if an endpoint may refuse the field by not listing it. Rendering already leaves out fields that must be listed,
 * and the relay lane sends the caller's own.
 */
function isOptional(fate: FieldFate): boolean {
  return fate.fate === 'rendered' && fate.parameters.length > 0 && !fate.mustBeListed;
}

/** Fates of fields that only this format has. */
const OWN_FATES: ReadonlyMap<string, FieldFate> = new Map([
  ['reasoning_effort', FATES.reasoning],
  ['web_search_options', rendered('web_search_options')],
]);

/** The body without the fields that the endpoint does not take. */
export function withoutUnsupported(
  body: JsonObject,
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): JsonObject {
  if (target.supportedParameters === undefined) return body;
  const unsupported = new Set(Object.keys(body).filter((name) => !takesBodyField(name, target)));
  if (unsupported.size === 0) return body;
  for (const wireName of unsupported) {
    const name = callersName(wireName, request, report);
    if (name !== undefined) report.dropped(name, NOT_TAKEN);
  }
  return membersBeyond(body, unsupported) ?? {};
}

function takesBodyField(name: string, target: RenderTarget): boolean {
  const field = FIELDS.get(name);
  const fate = field === undefined ? OWN_FATES.get(name) : FATES[field];
  return fate === undefined || isTaken(fate, target);
}

/** The caller's field for a member of the body; undefined if only the gateway set it. */
export function callersName(
  wireName: string,
  request: GenerationRequest,
  report: Report,
): string | undefined {
  if (wireName === 'logprobs' && conversationForm(request.formatFacts).asksLogprobsInInclude === true) {
    const position = request.include?.indexOf(INCLUDE_LOGPROBS) ?? -1;
    return position === -1 ? undefined : report.name('include', `[${position}]`);
  }
  const field = FIELDS.get(wireName);
  return field === undefined ? wireName : report.name(field);
}
