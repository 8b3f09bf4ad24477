import type { CacheMark, Ext } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { RequestField, Sampling } from '../../ir/settings.ts';
import { membersBeyond } from '../../kit/json/members.ts';
import type { RenderTarget } from '../dialect.ts';
import { foreignFieldPaths, foreignMemberReport } from '../shared/report/foreign-members.ts';
import { isSaid, UNDOCUMENTED } from '../shared/report/lost-fields.ts';
import type { Report } from '../shared/report/report.ts';
import { INCLUDE_LOGPROBS, INCLUDE_SEALS } from '../shared/requests/include-values.ts';

/** Why something does not go out. */
export const NO_FIELD = 'the upstream has no such field';
export const NO_CACHE_MARKS = 'the upstream caches on its own and takes no marks';
export const NOT_TAKEN = 'the endpoint does not take this parameter';
export const FOREIGN_SEAL = 'sealed by another model family: the upstream would refuse it';

/** Tells what an item, part or tool holds that this dialect cannot say: its cache mark, and members of other dialects. */
export function reportLostMembers(
  thing: { readonly cache?: CacheMark; readonly ext?: Ext },
  field: Extract<RequestField, 'items' | 'tools'>,
  report: Report,
): void {
  if (thing.cache !== undefined) report.dropped(report.place(thing, field, 'cache_control'), NO_CACHE_MARKS);
  reportForeignMembers(thing, field, report);
}

const reportForeignMembers = foreignMemberReport('gemini', NO_FIELD);

// --- Fields of the request ------------------------------------------------------------------------------------------

/** Sampling settings that this dialect lacks, with the value that means the same as their absence. */
const LOST_SAMPLING: readonly (readonly [field: keyof Sampling, harmless: unknown])[] = [
  ['topA', 0],
  ['minP', 0],
  ['repetitionPenalty', 1],
  ['logitBias', undefined],
];

const LOST_FIELDS = [
  'verbosity',
  'promptCacheKey',
  'promptCacheOptions',
] as const satisfies readonly (RequestField & keyof GenerationRequest)[];

/** Tiers that mean what the upstream does anyway. */
const PLAIN_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'standard_only']);

/** What may be asked to be included and every answer includes, or the answer has when log probabilities are asked for. */
const INCLUDED: ReadonlySet<string> = new Set([INCLUDE_SEALS, INCLUDE_LOGPROBS]);

/** Tells what the upstream has no field for. End-user ids are no loss: only upstreams with a field for them get them. */
export function reportLost(request: GenerationRequest, report: Report): void {
  const { sampling, wishes, unknownFields, serviceTier } = request;
  const lose = (field: string) => report.dropped(field, NO_FIELD);
  for (const [field, harmless] of LOST_SAMPLING) {
    if (isSaid(sampling[field]) && sampling[field] !== harmless) lose(report.name(field));
  }
  for (const field of LOST_FIELDS) if (isSaid(request[field])) lose(report.name(field));
  if (isSaid(membersBeyond(request.metadata ?? {}, END_USER))) lose(report.name('metadata'));
  if (request.cache !== undefined) report.dropped(report.name('cache'), NO_CACHE_MARKS);
  if (serviceTier !== undefined && !PLAIN_TIERS.has(serviceTier)) {
    report.dropped(report.name('serviceTier'), 'the upstream has no such tier');
  }
  if (request.speed === 'fast') lose(report.name('speed'));
  if (request.truncation === 'auto') lose(report.name('truncation'));
  for (const [position, value] of (request.include ?? []).entries()) {
    if (!INCLUDED.has(value)) {
      report.dropped(report.name('include', `[${position}]`), 'the upstream has nothing of that kind');
    }
  }
  if (wishes.maxToolCalls !== undefined && !unknownFields.includes('max_tool_calls')) lose('max_tool_calls');
  for (const field of foreignFieldPaths(request.ext, 'gemini')) lose(field);
  for (const field of unknownFields) report.dropped(field, UNDOCUMENTED);
}

const END_USER: ReadonlySet<string> = new Set(['user_id']);

// --- What an endpoint takes -----------------------------------------------------------------------------------------

/**
 * Settings that an endpoint may not take, with the names in the public model lists that stand for them; any of them is
 * enough. The output limit is none of them: it guards the caller's money.
 */
const PARAMETERS = {
  temperature: ['temperature'],
  topP: ['top_p'],
  topK: ['top_k'],
  frequencyPenalty: ['frequency_penalty'],
  presencePenalty: ['presence_penalty'],
  seed: ['seed'],
  stop: ['stop'],
  logprobs: ['logprobs', 'top_logprobs'],
  topLogprobs: ['top_logprobs'],
  tools: ['tools'],
  toolChoice: ['tool_choice', 'tools'],
  reasoning: ['reasoning', 'reasoning_effort', 'include_reasoning'],
  outputFormat: ['response_format', 'structured_outputs'],
} as const satisfies Partial<Record<RequestField, readonly string[]>>;

/** Settings that the list of an endpoint's parameters speaks about. */
export type Parameter = keyof typeof PARAMETERS;

/** Whether the endpoint takes a setting. */
export function takes(parameter: Parameter, { supportedParameters: taken }: RenderTarget): boolean {
  return taken === undefined || PARAMETERS[parameter].some((name) => taken.has(name));
}
