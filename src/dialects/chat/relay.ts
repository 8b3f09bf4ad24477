import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt } from '../../kit/json/members.ts';
import { NO_HEADERS, type RenderedRequest, type RenderTarget } from '../dialect.ts';
import { reportToolCallLimit } from '../shared/report/foreign-members.ts';
import { reportPassedOn } from '../shared/report/passed-on-fields.ts';
import { Report } from '../shared/report/report.ts';
import { capped, lowestLimit } from '../shared/requests/output-limit.ts';
import { relayBody } from '../shared/requests/relay.ts';
import { parseServiceTier } from './parse.ts';
import { arePlain, relayMessages } from './relay-content.ts';
import { anyObject, renderVerbosity, takesMarks, withHashedUserId, withoutRefusedFields } from './render.ts';
import { NO_CACHE_MARKS, NO_TOOL_CALL_LIMIT, unknownDetail } from './render-losses.ts';
import { relayReasoning } from './render-reasoning.ts';
import { GATEWAY_FIELDS, LIMIT_FIELDS } from './wire.ts';

export function renderRelay(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const report = new Report(request);
  const given = request.body;
  const tier = parseServiceTier(given);
  const messages = arePlain(given.messages, target)
    ? given.messages
    : relayMessages(given.messages, target, report);
  reportToolCallLimit(request, NO_TOOL_CALL_LIMIT, report);
  const { user, safetyIdentifier, metadata } = request;
  const changes: JsonObject = { model: target.model };
  if (messages !== given.messages) changes.messages = messages;
  if (user !== undefined) changes.user = target.hashUser(user);
  if (safetyIdentifier !== undefined) changes.safety_identifier = target.hashUser(safetyIdentifier);
  if (metadata !== undefined) changes.metadata = withHashedUserId(metadata, target);
  Object.assign(changes, relayReasoning(request, target, report));
  if (request.verbosity !== undefined) changes.verbosity = renderVerbosity(request, target, report);
  if (tier !== undefined) changes.service_tier = tier;
  if (request.stream) {
    changes.stream_options = { ...objectAt(given, 'stream_options'), include_usage: true };
  }
  Object.assign(
    changes,
    relayOutputLimit(given, target, report),
    relayOutputFormat(request, target, report),
    relayCacheMark(request, target, report),
  );
  for (const field of request.unknownFields) {
    if (GATEWAY_FIELDS.has(field) || !Object.hasOwn(given, field))
      report.dropped(field, unknownDetail(field));
  }
  const body = withoutRefusedFields(relayBody(request, GATEWAY_FIELDS, changes), request, target, report);
  reportPassedOn(request, body, report);
  return { body, headers: NO_HEADERS, report: report.entries };
}

// --- Cache marks ----------------------------------------------------------------------------------------------------

/** The mark of the whole prompt, removed if the endpoint takes none. */
function relayCacheMark(
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): JsonObject | undefined {
  if (request.cache === undefined || takesMarks(target)) return undefined;
  report.dropped(report.name('cache'), NO_CACHE_MARKS);
  return { cache_control: undefined };
}

// --- Output limit ---------------------------------------------------------------------------------------------------

/** The caller's own limits, under the only name that the provider accepts if there is just one. */
function relayOutputLimit(given: JsonObject, target: RenderTarget, report: Report): JsonObject | undefined {
  const only = target.quirks?.outputLimitField;
  let limits: Record<string, number> | undefined;
  for (const field of LIMIT_FIELDS) {
    const asked = numberAt(given, field);
    if (asked === undefined) continue;
    const limit = capped(asked, () => field, target, report);
    limits ??= {};
    limits[field] = limit;
  }
  if (only === undefined || limits === undefined) return limits;
  return {
    max_tokens: undefined,
    max_completion_tokens: undefined,
    [only]: lowestLimit(Object.values(limits)),
  };
}

// --- Output format --------------------------------------------------------------------------------------------------

/** Any JSON object instead of a schema, if the provider refuses schemas. */
function relayOutputFormat(
  { outputFormat }: GenerationRequest,
  { quirks }: RenderTarget,
  report: Report,
): JsonObject | undefined {
  const isRefused = quirks?.refusesSchemas === true && outputFormat?.type === 'json-schema';
  return isRefused ? { response_format: anyObject(report) } : undefined;
}
