import type { GenerationRequest } from '../../ir/request.ts';
import type { Sampling } from '../../ir/settings.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringsAt } from '../../kit/json/members.ts';
import type { Report } from '../shared/report/report.ts';
import { reasoningNames } from './reasoning.ts';
import { INCLUDE_LOGPROBS } from './wire.ts';

type ToolField = 'tools' | 'toolChoice' | 'parallelToolCalls';
type Setting = keyof Sampling | ToolField | 'reasoning' | 'outputFormat' | 'verbosity';

/** Settings, each with the parameters any of which an endpoint must list to be sent it. */
const PARAMETERS: readonly (readonly [Setting, readonly string[]])[] = [
  ['temperature', ['temperature']],
  ['topP', ['top_p']],
  ['topK', ['top_k']],
  ['frequencyPenalty', ['frequency_penalty']],
  ['presencePenalty', ['presence_penalty']],
  ['logprobs', ['logprobs', 'top_logprobs']],
  ['topLogprobs', ['top_logprobs']],
  ['tools', ['tools']],
  ['toolChoice', ['tool_choice']],
  ['parallelToolCalls', ['parallel_tool_calls', 'tools']],
  ['reasoning', ['reasoning', 'include_reasoning']],
  ['outputFormat', ['response_format', 'structured_outputs']],
  ['verbosity', ['verbosity']],
];

/**
 * The request without the parameters that the endpoint does not take, in the representation and in the caller's body.
 * Comes before everything else, so that nothing is reported of what is not sent. The output limit always stays: without
 * it an answer could cost more than the caller allowed.
 */
export function withoutUnsupported(
  request: GenerationRequest,
  supported: ReadonlySet<string> | undefined,
  report: Report,
): GenerationRequest {
  if (supported === undefined) return request;
  let kept = request;
  for (const [setting, parameters] of PARAMETERS) {
    const lacksTools = isAboutTools(setting) && kept.tools.length < request.tools.length;
    const isTaken = !lacksTools && parameters.some((name) => supported.has(name));
    if (isTaken || !isGiven(kept, setting)) continue;
    for (const name of namesOf(request, setting, report)) {
      report.dropped(name, 'the endpoint does not take this parameter');
    }
    kept = without(kept, setting, report);
  }
  return kept;
}

function isAboutTools(setting: Setting): boolean {
  return setting === 'toolChoice' || setting === 'parallelToolCalls';
}

/** Plain text is what every endpoint answers in: asking for it is asking for nothing. */
function isGiven(request: GenerationRequest, setting: Setting): boolean {
  switch (setting) {
    case 'tools':
      return request.tools.length > 0;
    case 'logprobs':
      return request.sampling.logprobs === true;
    case 'outputFormat':
      return request.outputFormat !== undefined && request.outputFormat.type !== 'text';
    case 'toolChoice':
    case 'parallelToolCalls':
    case 'reasoning':
    case 'verbosity':
      return request[setting] !== undefined;
    default:
      return request.sampling[setting] !== undefined;
  }
}

function namesOf(request: GenerationRequest, setting: Setting, report: Report): string[] {
  if (setting === 'reasoning') return reasoningNames(request, report);
  if (setting === 'logprobs' && request.formatFacts.asksLogprobsInInclude === true) return ['include'];
  return [report.name(setting)];
}

function without(request: GenerationRequest, setting: Setting, report: Report): GenerationRequest {
  const { sampling } = request;
  const body = request.format === 'responses' ? bodyWithout(request.body, setting, report) : request.body;
  switch (setting) {
    case 'tools':
      return { ...request, body, tools: [] };
    case 'toolChoice':
    case 'parallelToolCalls':
    case 'reasoning':
    case 'outputFormat':
    case 'verbosity':
      return { ...request, body, [setting]: undefined };
    case 'logprobs':
      return {
        ...request,
        body,
        sampling: { ...sampling, logprobs: undefined },
        include: includeOf(request),
      };
    default:
      return { ...request, body, sampling: { ...sampling, [setting]: undefined } };
  }
}

function includeOf({ include }: GenerationRequest): string[] | undefined {
  return include?.filter((name) => name !== INCLUDE_LOGPROBS);
}

/** The caller's names of settings are the paths of this format's own body. */
function bodyWithout(body: JsonObject, setting: Setting, report: Report): JsonObject {
  if (setting === 'logprobs') {
    const include = stringsAt(body, 'include')?.filter((name) => name !== INCLUDE_LOGPROBS) ?? [];
    return { ...body, include: include.length > 0 ? include : null };
  }
  const [field = '', member] = report.name(setting).split('.');
  if (member === undefined) return { ...body, [field]: null };
  const { [member]: _removed, ...rest } = objectAt(body, field) ?? {};
  return { ...body, [field]: Object.keys(rest).length > 0 ? rest : null };
}
