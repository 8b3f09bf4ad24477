import type { Ext } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { RequestField } from '../../ir/settings.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { membersBeyond } from '../../kit/json/members.ts';
import type { RenderTarget } from '../dialect.ts';
import { foreignFieldPaths, foreignMemberReport } from '../shared/report/foreign-members.ts';
import type { Report } from '../shared/report/report.ts';
import { INCLUDE_LOGPROBS } from '../shared/requests/include-values.ts';

/** The reason in the report for settings that chat upstreams have no field for. */
export const NO_FIELD = 'the chat format has no field for it';
export const FOREIGN_SEAL =
  'sealed by an upstream of another dialect: chat upstreams get only what one of them gave';
export const NO_CACHE_MARK = 'the upstream takes no cache marks here';

/** Reports the members of an item, part or tool that only other dialects have. */
export const reportForeignMembers = foreignMemberReport('chat', NO_FIELD);

/** Reports the fields of a request that only other dialects have. */
export function reportForeignFields(ext: Ext, report: Report): void {
  for (const path of foreignFieldPaths(ext, 'chat')) report.dropped(path, NO_FIELD);
}

// --- Fields that the endpoint does not take -------------------------------------------------------------------------

interface ParameterRow {
  /** What the caller calls it; absent = as the chat format does. */
  readonly field?: RequestField;
  /** Names in the public model lists that stand for it; any of them is enough. */
  readonly parameters: readonly string[];
}

/** Fields of the body that an endpoint may not take. The output limit is none of them: it guards the caller's money. */
const PARAMETERS: ReadonlyMap<string, ParameterRow> = new Map<string, ParameterRow>([
  ['temperature', { parameters: ['temperature'] }],
  ['top_p', { parameters: ['top_p'] }],
  ['top_k', { parameters: ['top_k'] }],
  ['top_a', { parameters: ['top_a'] }],
  ['min_p', { parameters: ['min_p'] }],
  ['frequency_penalty', { parameters: ['frequency_penalty'] }],
  ['presence_penalty', { parameters: ['presence_penalty'] }],
  ['repetition_penalty', { parameters: ['repetition_penalty'] }],
  ['seed', { parameters: ['seed'] }],
  ['stop', { field: 'stop', parameters: ['stop'] }],
  ['logit_bias', { parameters: ['logit_bias'] }],
  ['logprobs', { parameters: ['logprobs'] }],
  ['top_logprobs', { parameters: ['top_logprobs'] }],
  ['response_format', { field: 'outputFormat', parameters: ['response_format', 'structured_outputs'] }],
  ['tools', { field: 'tools', parameters: ['tools'] }],
  ['tool_choice', { field: 'toolChoice', parameters: ['tool_choice', 'tools'] }],
  ['parallel_tool_calls', { field: 'parallelToolCalls', parameters: ['parallel_tool_calls', 'tools'] }],
  ['reasoning_effort', { parameters: ['reasoning', 'reasoning_effort', 'include_reasoning'] }],
  ['verbosity', { field: 'verbosity', parameters: ['verbosity'] }],
  ['web_search_options', { parameters: ['web_search_options'] }],
]);

export const NOT_TAKEN = 'the endpoint does not take this parameter';

/** Whether the endpoint takes a field of the body. */
export function takes(wireName: string, { supportedParameters: taken }: RenderTarget): boolean {
  const row = PARAMETERS.get(wireName);
  return taken === undefined || row === undefined || row.parameters.some((parameter) => taken.has(parameter));
}

/** The body without the fields that the endpoint does not take. */
export function withoutUnsupported(
  body: JsonObject,
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): JsonObject {
  if (target.supportedParameters === undefined) return body;
  const unsupported = new Set(Object.keys(body).filter((wireName) => !takes(wireName, target)));
  if (unsupported.size === 0) return body;
  for (const wireName of unsupported) {
    const name = callersName(wireName, request, report);
    if (name !== undefined) report.dropped(name, NOT_TAKEN);
  }
  return membersBeyond(body, unsupported) ?? {};
}

/** Where the caller asked for what a field of the body says; undefined when only we did. */
export function callersName(
  wireName: string,
  request: GenerationRequest,
  report: Report,
): string | undefined {
  if (wireName === 'logprobs' && request.formatFacts.asksLogprobsInInclude === true) {
    const position = request.include?.indexOf(INCLUDE_LOGPROBS) ?? -1;
    return position === -1 ? undefined : report.name('include', `[${position}]`);
  }
  const field = PARAMETERS.get(wireName)?.field;
  return field === undefined ? wireName : report.name(field);
}
