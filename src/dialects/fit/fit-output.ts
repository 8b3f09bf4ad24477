import type { Endpoint } from '../../catalog/catalog.ts';
import { exceeds } from '../../catalog/output-limit.ts';
import { conversationForm } from '../../ir/format-facts.ts';
import { NO_ENTRIES, type TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { givenLimitFields, limitFieldAt } from '../shared/requests/output-limit.ts';
import type { FittedRequest } from './fit-reasoning.ts';

/**
 * Limits the requested output to what is paid for. `most`: tokens; undefined = unlimited. A request without a limit
 * gets this one.
 */
export function fitOutput(
  request: GenerationRequest,
  most: number | undefined,
  { supportedParameters }: Pick<Endpoint, 'supportedParameters'>,
): FittedRequest {
  const { requestedOutputTokens: asked, formatFacts } = request;
  if (most === undefined || (asked !== undefined && !exceeds(asked, most)))
    return { request, report: NO_ENTRIES };
  const given = givenLimitFields(request);
  // The provider's only name for the limit replaces this one when the body is rendered.
  const fields =
    given.length > 0
      ? given
      : [limitFieldAt(conversationForm(formatFacts).limitFields, { supportedParameters })];
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
