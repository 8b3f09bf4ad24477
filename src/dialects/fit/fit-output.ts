import type { Endpoint } from '../../catalog/catalog.ts';
import type { FormatFacts } from '../../ir/format-facts.ts';
import { NO_ENTRIES, type TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt } from '../../kit/json/members.ts';
import type { FittedRequest } from './fit-reasoning.ts';

/**
 * Asks for no more output than is paid for: `most` tokens; undefined = no limit binds. A request that names no limit
 * gets one by it.
 */
export function fitOutput(
  request: GenerationRequest,
  most: number | undefined,
  { supportedParameters }: Pick<Endpoint, 'supportedParameters'>,
): FittedRequest {
  const { requestedOutputTokens: asked, formatFacts } = request;
  if (most === undefined || (asked !== undefined && asked <= most)) return { request, report: NO_ENTRIES };
  const given = formatFacts.limitFields
    .filter((field) => field !== undefined)
    .filter((field) => numberAt(request.body, field) !== undefined);
  const fields = given.length > 0 ? given : [newField(formatFacts, supportedParameters)];
  const limits: JsonObject = Object.fromEntries(fields.map((field) => [field, most]));
  const entry: TranslationEntry = {
    field: fields[0] ?? '',
    action: 'coerced',
    detail: `${asked === undefined ? 'set' : 'lowered'} to ${most}, what the limits of the key still pay for`,
  };
  return {
    request: { ...request, requestedOutputTokens: most, body: { ...request.body, ...limits } },
    report: [entry],
  };
}

/** Newer models refuse the older name. */
function newField({ limitFields }: FormatFacts, taken: ReadonlySet<string> | undefined): string {
  const [usual, newer] = limitFields;
  const takesOnlyNewer = newer !== undefined && taken?.has(newer) === true && !taken.has(usual);
  return takesOnlyNewer ? newer : usual;
}
