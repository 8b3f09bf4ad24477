import { conversationForm } from '../../ir/format-facts.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Sampling } from '../../ir/settings.ts';
import { remembered } from '../../kit/collections/remembered.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { compact } from '../../kit/json/members.ts';
import type { RenderedRequest, RenderTarget } from '../dialect.ts';
import { withUnknownFields } from '../shared/report/passed-on-fields.ts';
import type { Report } from '../shared/report/report.ts';
import { BETA_HEADER, VERSION_HEADER } from '../shared/requests/betas.ts';
import { conflictsWithThinking, loweredTemperature } from '../shared/requests/claude-sampling.ts';
import { JSON_INSTRUCTION, schemaWithoutName } from '../shared/requests/output-format.ts';
import { refuseSilence } from '../shared/requests/semantics.ts';
import { renderConversation } from './render-content.ts';
import type { RenderContext } from './render-context.ts';
import { markLastCacheable, renderContext } from './render-context.ts';
import { isForGateway, reportLosses, takes } from './render-losses.ts';
import { renderReasoning } from './render-reasoning.ts';
import { renderTools } from './render-tools.ts';
import { SAMPLING } from './settings.ts';

/** The version that every server of the dialect knows. */
export const USUAL_VERSION = '2023-06-01';

/** Speed is a beta of the dialect. */
const FAST_MODE = 'fast-mode-2026-02-01';

/** Renders a request of any format. */
export function renderRequest(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const context = renderContext(request, target);
  const { report, marks } = context;
  const { system, messages } = renderConversation(context);
  refuseSilence(messages, report);
  const thinking = renderReasoning(context, messages);
  const format = renderOutputFormat(request, target, system, report);
  const {
    output_config: ownConfig,
    metadata: labels,
    tool_choice: ownChoice,
    ...own
  } = request.ext.messages ?? {};
  const outputConfig = {
    ...(isJsonObject(ownConfig) && ownConfig),
    ...(thinking.effort !== undefined && { effort: thinking.effort }),
    ...format,
  };
  const metadata = renderMetadata(request, labels, target);
  const body: JsonObject = {
    model: target.model,
    max_tokens: thinking.maxTokens,
    ...(system.length > 0 && { system }),
    messages,
    ...renderTools(context, thinking.isThinking),
    ...(ownChoice !== undefined && request.tools.length > 0 && { tool_choice: ownChoice }),
    ...own,
    ...(thinking.thinking !== undefined && { thinking: thinking.thinking }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...compact(fittedSampling(context, thinking.isThinking)),
    ...(metadata !== undefined && { metadata }),
    ...renderServiceTier(request, report),
    ...(request.speed === 'fast' && { speed: 'fast' }),
    ...(request.stream && { stream: true }),
  };
  marks.keepLast(body, report);
  reportLosses(request, report);
  return rendered(context, withUnknownFields(request, 'messages', body, isForGateway, report));
}

/** The body with its automatic cache mark, the headers of the dialect, and the report. */
export function rendered({ request, target, report }: RenderContext, body: JsonObject): RenderedRequest {
  return {
    body: request.cache === undefined ? body : markLastCacheable(body, request.cache, report),
    headers: HEADERS[request.speed === 'fast' ? 'fast' : 'usual'](sentVersion(request, target, report)),
    report: report.entries,
  };
}

function sentVersion({ apiVersion }: GenerationRequest, { quirks }: RenderTarget, report: Report): string {
  if (apiVersion === undefined || apiVersion === USUAL_VERSION) return USUAL_VERSION;
  if (quirks?.takesCallersVersion === true) return apiVersion;
  report.coerced(
    VERSION_HEADER,
    `the endpoint gets ${USUAL_VERSION}, which every server of the dialect knows`,
  );
  return USUAL_VERSION;
}

/** Headers by speed and version: calls that are alike get the same object, so that theirs are made once. */
const HEADERS = {
  usual: remembered<RenderedRequest['headers']>(32, (version) => ({ [VERSION_HEADER]: version })),
  fast: remembered<RenderedRequest['headers']>(32, (version) => ({
    [VERSION_HEADER]: version,
    [BETA_HEADER]: FAST_MODE,
  })),
};

// --- Sampling -------------------------------------------------------------------------------------------------------

/** Why a setting is not sent; undefined if it is. */
function obstacleOf(
  field: keyof Sampling,
  value: unknown,
  target: RenderTarget,
  isThinking: boolean,
): string | undefined {
  if (!takes(field, target)) return 'the endpoint does not take it';
  const conflicts = isThinking && conflictsWithThinking(field, value);
  return conflicts ? 'the upstream does not take it while thinking' : undefined;
}

/** The settings as the endpoint takes them; undefined for those that it does not take. */
export function fittedSampling({ request, target, report }: RenderContext, isThinking: boolean): JsonObject {
  const fitted: JsonObject = {};
  for (const { field, wire } of SAMPLING.rows) {
    const value = request.sampling[field];
    if (value === undefined) continue;
    const obstacle = obstacleOf(field, value, target, isThinking);
    if (obstacle !== undefined) report.dropped(report.name(field), obstacle);
    fitted[wire] = obstacle === undefined ? fittedSetting(field, value as Json, report) : undefined;
  }
  return fitted;
}

function fittedSetting(field: keyof Sampling, value: Json, report: Report): Json {
  return field === 'temperature' ? loweredTemperature(value as number, report) : value;
}

// --- Output format --------------------------------------------------------------------------------------------------

/** The output format; asks for it in the system prompt if it cannot be enforced. */
function renderOutputFormat(
  { format, formatFacts, outputFormat }: GenerationRequest,
  target: RenderTarget,
  system: JsonObject[],
  report: Report,
): JsonObject {
  const field = report.name('outputFormat');
  switch (outputFormat?.type) {
    case 'json-schema':
      if (!takes('outputFormat', target)) {
        report.dropped(field, 'the endpoint takes no output format');
        return {};
      }
      if (format === 'messages') return { format: { type: 'json_schema', schema: outputFormat.schema } };
      return {
        format: {
          type: 'json_schema',
          schema: schemaWithoutName(
            outputFormat,
            `${field}${conversationForm(formatFacts).schemaPath}`,
            report,
          ),
        },
      };
    case 'json':
      report.coerced(field, 'became an instruction in the system prompt');
      system.push({ type: 'text', text: JSON_INSTRUCTION });
      return {};
    case 'opaque':
      if (outputFormat.dialect === 'messages') return { format: outputFormat.value };
      report.dropped(field, 'the upstream has no such output format');
      return {};
    default:
      return {};
  }
}

// --- Service tier ---------------------------------------------------------------------------------------------------

const SERVICE_TIERS: ReadonlySet<string> = new Set(['auto', 'standard_only']);

/** The tier, if the upstream has it. */
export function renderServiceTier({ serviceTier }: GenerationRequest, report: Report): JsonObject {
  if (serviceTier === undefined) return {};
  if (SERVICE_TIERS.has(serviceTier)) return { service_tier: serviceTier };
  report.dropped(report.name('serviceTier'), `the upstream has no tier ${JSON.stringify(serviceTier)}`);
  return {};
}

// --- Metadata and end users -----------------------------------------------------------------------------------------

/** The end-user id is sent only as a hash. */
export function renderMetadata(
  request: GenerationRequest,
  labels: JsonObject[string],
  target: RenderTarget,
): JsonObject | undefined {
  const user = request.user ?? request.safetyIdentifier;
  if (user === undefined && !isJsonObject(labels)) return undefined;
  const { user_id: _raw, ...rest } = isJsonObject(labels) ? labels : {};
  return { ...rest, ...(user !== undefined && { user_id: target.hashUser(user) }) };
}
