import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt } from '../../kit/json/members.ts';
import { NO_HEADERS, type RenderedRequest, type RenderTarget } from '../dialect.ts';
import { INCLUDE_LOGPROBS, INCLUDE_SEALS } from '../shared/include-values.ts';
import { reportPassedOn } from '../shared/report/passed-on-fields.ts';
import { Report } from '../shared/report/report.ts';
import { cappedLimit } from '../shared/requests/output-limit.ts';
import { relayBody } from '../shared/requests/relay.ts';
import { knownVerbosity } from '../shared/requests/verbosity.ts';
import { relayInput, relayTools } from './relay-content.ts';
import { hashedIds, hasLogprobsField, needsSeals, renderModalities, renderServiceTier } from './render.ts';
import { NO_CACHE_MARKS, withoutUnsupported } from './render-losses.ts';
import { relayReasoning } from './render-reasoning.ts';
import { GATEWAY_FIELDS } from './wire.ts';

export function renderRelay(given: GenerationRequest, target: RenderTarget): RenderedRequest {
  const report = new Report(given);
  const request = withoutUnsupported(given, target, report);
  if (request.cache !== undefined) report.dropped(report.name('cache'), NO_CACHE_MARKS);
  for (const name of request.unknownFields) {
    if (GATEWAY_FIELDS.has(name)) report.dropped(name, 'is not available here');
  }
  const limit = cappedLimit(request, target, report);
  const body = relayBody(request, GATEWAY_FIELDS, {
    model: target.model,
    store: false,
    cache_control: undefined,
    input: relayInput(request.body, report, target.quirks),
    tools: relayTools(request.body.tools, report),
    reasoning: relayReasoning(request, target, report),
    ...relayVerbosity(request, report),
    ...relayInclude(request, target),
    ...(limit !== request.requestedOutputTokens && { max_output_tokens: limit }),
    modalities: renderModalities(request, report),
    service_tier: renderServiceTier(request, report),
    ...hashedIds(request, target),
  });
  reportPassedOn(request, body, report);
  return { body, headers: NO_HEADERS, report: report.entries };
}

// --- Output format --------------------------------------------------------------------------------------------------

/** The caller's own text settings, if a value in them must change. */
function relayVerbosity(request: GenerationRequest, report: Report): JsonObject {
  const verbosity = knownVerbosity(request, report);
  return verbosity === request.verbosity ? {} : { text: { ...objectAt(request.body, 'text'), verbosity } };
}

// --- Includes -------------------------------------------------------------------------------------------------------

/**
 * The caller's own list, with seals if the caller needs them without asking, and without log probabilities if the
 * provider has a field for them.
 */
function relayInclude(request: GenerationRequest, target: RenderTarget): JsonObject {
  const { include: given = [] } = request;
  const isAdded = needsSeals(request, target) && !given.includes(INCLUDE_SEALS);
  const isMoved = hasLogprobsField(target) && given.includes(INCLUDE_LOGPROBS);
  if (!isAdded && !isMoved) return {};
  const kept = isMoved ? given.filter((name) => name !== INCLUDE_LOGPROBS) : given;
  const include = isAdded ? [...kept, INCLUDE_SEALS] : kept;
  return { include: include.length > 0 ? [...include] : undefined, ...(isMoved && { logprobs: true }) };
}
