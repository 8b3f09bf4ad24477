import type { GenerationRequest } from '../../../ir/request.ts';
import type { RequestField, Sampling } from '../../../ir/settings.ts';
import { isJsonObject } from '../../../kit/json/json.ts';
import type { Report } from './report.ts';

/** Why a field that no contract knows does not go out. */
export const UNDOCUMENTED = 'nobody documents it: passed on only to upstreams of the same format';

/** Whether a field asks for anything: an empty object does not. */
export function isSaid(value: unknown): boolean {
  return value !== undefined && !(isJsonObject(value) && Object.keys(value).length === 0);
}

/** What the responses format may ask to have included and every answer of other dialects includes anyway. */
const ALWAYS_INCLUDED = 'reasoning.encrypted_content';

/** Tells what an answer will not include although it was asked for. */
function reportLostIncludes({ include = [] }: GenerationRequest, report: Report): void {
  const lost = [...include.keys()].filter((index) => include[index] !== ALWAYS_INCLUDED);
  if (lost.length === 0) return;
  const field = report.name('include');
  const places = lost.length === include.length ? [field] : lost.map((index) => `${field}[${index}]`);
  for (const place of places) report.dropped(place, 'the upstream has nothing of that kind to include');
}

/** Settings that the dialects of Claude have no field for. */
const LOST_SAMPLING: readonly (keyof Sampling)[] = [
  'topA',
  'minP',
  'frequencyPenalty',
  'presencePenalty',
  'repetitionPenalty',
  'seed',
  'logitBias',
  'logprobs',
  'topLogprobs',
];

/** Settings that only mean something where they are not the default. */
const HARMLESS: Readonly<Partial<Record<keyof Sampling, unknown>>> = {
  topA: 0,
  minP: 0,
  frequencyPenalty: 0,
  presencePenalty: 0,
  repetitionPenalty: 1,
  logprobs: false,
  topLogprobs: 0,
};

/** Fields of a request that a dialect may have no field for as a whole. */
export type LostField = RequestField & keyof GenerationRequest;

/** Tells what the dialects of Claude have no field for: settings of sampling and of the answer, and the fields named. */
export function reportLostSettings(
  request: GenerationRequest,
  fields: readonly LostField[],
  report: Report,
  detail: string,
): void {
  const { sampling, wishes, unknownFields } = request;
  const lose = (field: string) => report.dropped(field, detail);
  for (const field of LOST_SAMPLING) {
    if (field === 'logprobs' && request.formatFacts.asksLogprobsInInclude === true) continue;
    if (isSaid(sampling[field]) && sampling[field] !== HARMLESS[field]) lose(report.name(field));
  }
  for (const field of fields) if (isSaid(request[field])) lose(report.name(field));
  if (request.modalities?.some((modality) => modality !== 'text') === true) lose(report.name('modalities'));
  if (request.truncation === 'auto') lose(report.name('truncation'));
  reportLostIncludes(request, report);
  if (wishes.maxToolCalls !== undefined && !unknownFields.includes('max_tool_calls')) lose('max_tool_calls');
}
