import { conversationForm } from '../../ir/format-facts.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Sampling } from '../../ir/settings.ts';
import { remembered } from '../../kit/collections/remembered.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
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

/** The version that every server of the dialect knows. */
const USUAL_VERSION = '2023-06-01';

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
  const native = request.ext.messages ?? {};
  const outputConfig = {
    ...(isJsonObject(native.output_config) && native.output_config),
    ...(thinking.effort !== undefined && { effort: thinking.effort }),
    ...format,
  };
  const metadata = renderMetadata(request, native.metadata, target);
  const body: JsonObject = {
    model: target.model,
    max_tokens: thinking.maxTokens,
    ...(system.length > 0 && { system }),
    messages,
    ...renderTools(context, thinking.isThinking),
    ...(native.tool_choice !== undefined && request.tools.length > 0 && { tool_choice: native.tool_choice }),
    ...(native.thinking !== undefined && { thinking: native.thinking }),
    ...(thinking.thinking !== undefined && { thinking: thinking.thinking }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...renderSampling(request, target, thinking.isThinking, report),
    ...(native.context_management !== undefined && { context_management: native.context_management }),
    ...(native.mcp_servers !== undefined && { mcp_servers: native.mcp_servers }),
    ...(native.container !== undefined && { container: native.container }),
    ...(native.inference_geo !== undefined && { inference_geo: native.inference_geo }),
    ...(native.safeguards !== undefined && { safeguards: native.safeguards }),
    ...(native.fallbacks !== undefined && { fallbacks: native.fallbacks }),
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

/** Sampling settings that this dialect has, with their names. */
const SAMPLING: readonly (readonly [field: keyof Sampling, wire: string])[] = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
  ['stop', 'stop_sequences'],
];

/** Why a setting is not sent; undefined if it is. */
export function obstacleOf(
  field: keyof Sampling,
  value: unknown,
  target: RenderTarget,
  isThinking: boolean,
): string | undefined {
  if (!takes(field, target)) return 'the endpoint does not take it';
  const conflicts = isThinking && conflictsWithThinking(field, value);
  return conflicts ? 'the upstream does not take it while thinking' : undefined;
}

function renderSampling(
  { sampling }: GenerationRequest,
  target: RenderTarget,
  isThinking: boolean,
  report: Report,
): JsonObject {
  const body: JsonObject = {};
  for (const [field, wire] of SAMPLING) {
    const value = sampling[field];
    if (value === undefined) continue;
    const obstacle = obstacleOf(field, value, target, isThinking);
    if (obstacle !== undefined) {
      report.dropped(report.name(field), obstacle);
    } else if (field === 'temperature') {
      body[wire] = loweredTemperature(value as number, report);
    } else {
      body[wire] = value as JsonObject[string];
    }
  }
  return body;
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
