import type { GenerationRequest, RequestField, Sampling } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json.ts';
import { objectAt, stringsAt } from '../../kit/members.ts';
import type { Report } from '../report.ts';
import { INCLUDE_LOGPROBS } from './wire.ts';

/**
 * Removes the parameters that an endpoint does not take, before anything is rendered, so that nothing is reported of
 * what is not sent. The output limit always stays: without it an answer could cost more than the caller allowed.
 */

/** What of the request belongs to a parameter: any of `listed` in the endpoint's list lets it through. */
interface Row {
  readonly field: RequestField;
  /** The field of a body of this dialect. */
  readonly wire: string;
  readonly listed: readonly string[];
}

const SAMPLING_ROWS: readonly (Row & { readonly field: keyof Sampling })[] = [
  { field: 'temperature', wire: 'temperature', listed: ['temperature'] },
  { field: 'topP', wire: 'top_p', listed: ['top_p'] },
  { field: 'topK', wire: 'top_k', listed: ['top_k'] },
  { field: 'frequencyPenalty', wire: 'frequency_penalty', listed: ['frequency_penalty'] },
  { field: 'presencePenalty', wire: 'presence_penalty', listed: ['presence_penalty'] },
  { field: 'topLogprobs', wire: 'top_logprobs', listed: ['top_logprobs'] },
];

const TOOL_ROWS: readonly (Row & { readonly field: 'tools' | 'toolChoice' | 'parallelToolCalls' })[] = [
  { field: 'tools', wire: 'tools', listed: ['tools'] },
  { field: 'toolChoice', wire: 'tool_choice', listed: ['tool_choice'] },
  { field: 'parallelToolCalls', wire: 'parallel_tool_calls', listed: ['parallel_tool_calls', 'tools'] },
];

const REASONING = ['reasoning', 'include_reasoning'];
const OUTPUT_FORMAT = ['response_format', 'structured_outputs'];
const VERBOSITY = ['verbosity'];
const LOGPROBS = ['logprobs', 'top_logprobs'];

const NOT_TAKEN = 'the endpoint does not take this parameter';

type Supported = ReadonlySet<string>;

/** The request without what the endpoint does not take; the same request when that is nothing. */
export function withoutUnsupported(
  request: GenerationRequest,
  supported: Supported | undefined,
  report: Report,
): GenerationRequest {
  if (supported === undefined) return request;
  const isTaken = (listed: readonly string[]) => listed.some((name) => supported.has(name));
  const drop = (field: RequestField) => report.dropped(report.name(field), NOT_TAKEN);
  const sampling: { -readonly [name in keyof Sampling]: Sampling[name] } = { ...request.sampling };
  const kept: { -readonly [name in keyof GenerationRequest]: GenerationRequest[name] } = {
    ...request,
    sampling,
  };
  for (const { field, listed } of SAMPLING_ROWS) {
    if (sampling[field] === undefined || isTaken(listed)) continue;
    delete sampling[field];
    drop(field);
  }
  if (sampling.logprobs === true && !isTaken(LOGPROBS)) {
    delete sampling.logprobs;
    kept.include = request.include?.filter((name) => name !== INCLUDE_LOGPROBS);
    report.dropped(request.format === 'responses' ? 'include' : report.name('logprobs'), NO_LOGPROBS);
  }
  for (const { field, listed } of TOOL_ROWS) {
    const isGiven = field === 'tools' ? request.tools.length > 0 : request[field] !== undefined;
    if (!isGiven || (isTaken(listed) && isTaken(toolsNeeded(request.tools.length)))) continue;
    if (field === 'tools') kept.tools = [];
    else delete kept[field];
    drop(field);
  }
  if (request.reasoning !== undefined && !isTaken(REASONING)) {
    delete kept.reasoning;
    for (const name of reasoningNames(request, report)) report.dropped(name, NOT_TAKEN);
  }
  // Plain text is what every endpoint answers in.
  if ((request.outputFormat?.type ?? 'text') !== 'text' && !isTaken(OUTPUT_FORMAT)) {
    delete kept.outputFormat;
    drop('outputFormat');
  }
  if (request.verbosity !== undefined && !isTaken(VERBOSITY)) {
    delete kept.verbosity;
    drop('verbosity');
  }
  return kept;
}
