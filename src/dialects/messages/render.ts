import { invalidRequest } from '../../ir/errors.ts';
import type { GenerationRequest, OutputFormat } from '../../ir/request.ts';
import type { Sampling } from '../../ir/settings.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { objectsOf } from '../../kit/json/members.ts';
import type { RenderedRequest, RenderTarget } from '../dialect.ts';
import type { Report } from '../shared/report/report.ts';
import { relayBody } from '../shared/requests/relay.ts';
import { relayMessages } from './relay-content.ts';
import { renderConversation } from './render-content.ts';
import { markLastCacheable, renderContext } from './render-context.ts';
import { NOT_ON_THIS_ROUTE, reportLost } from './render-losses.ts';
import { relayReasoning, renderReasoning } from './render-reasoning.ts';
import { renderTools } from './render-tools.ts';
import { GATEWAY_FIELDS, type WireMessage } from './wire.ts';

const HEADERS = { 'anthropic-version': '2023-06-01' } as const;

/** Speed is a beta of the dialect. */
const FAST_HEADERS = { ...HEADERS, 'anthropic-beta': 'fast-mode-2026-02-01' };

/** A request of any format in this dialect's words. */
export function renderRequest(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const context = renderContext(request, target);
  const { report, marks } = context;
  const { system, messages } = renderConversation(context);
  refuseSilence(messages, report);
  const thinking = renderReasoning(context, messages);
  const format = renderFormat(request, target, system, report);
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
    ...(thinking.thinking !== undefined && { thinking: thinking.thinking }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...renderSampling(request, target, thinking.isThinking, report),
    ...(native.context_management !== undefined && { context_management: native.context_management }),
    ...(metadata !== undefined && { metadata }),
    ...renderTier(request, report),
    ...(request.speed === 'fast' && { speed: 'fast' }),
    ...(request.stream && { stream: true }),
  };
  marks.keepLast(body, report);
  reportLost(request, report);
  return rendered(request, body, report);
}

/** The caller's own body of this format. */
export function renderRelay(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const context = renderContext(request, target);
  const { report } = context;
  const given = request.body.messages as unknown as WireMessage[];
  const { system, messages } = relayMessages(given, report);
  refuseSilence(messages, report);
  const { service_tier } = renderTier(request, report);
  for (const field of request.unknownFields) {
    if (GATEWAY_FIELDS.has(field)) report.dropped(field, NOT_ON_THIS_ROUTE);
  }
  const body = relayBody(request, GATEWAY_FIELDS, {
    model: target.model,
    messages,
    ...(system.length > 0 && { system: [...systemBlocks(request), ...system] }),
    ...relayReasoning(context, messages),
    metadata: renderMetadata(request, request.body.metadata ?? undefined, target),
    service_tier,
    ...relayedTemperature(request, report),
    ...(request.speed === 'standard' && { speed: undefined }),
  });
  return rendered(request, body, report);
}

/** The caller's own system prompt as blocks. */
function systemBlocks({ body: { system } }: GenerationRequest): JsonObject[] {
  return typeof system === 'string' && system !== '' ? [{ type: 'text', text: system }] : objectsOf(system);
}

/** An upstream would refuse a conversation without content. */
function refuseSilence(messages: readonly JsonObject[], report: Report): void {
  if (messages.length > 0) return;
  throw invalidRequest([
    { path: report.name('items'), message: 'the conversation has no content for the model' },
  ]);
}

function rendered(request: GenerationRequest, body: JsonObject, report: Report): RenderedRequest {
  return {
    body: request.cache === undefined ? body : markLastCacheable(body, request.cache, report),
    headers: request.speed === 'fast' ? FAST_HEADERS : HEADERS,
    report: report.entries,
  };
}

/** The end-user id leaves only as a hash. */
function renderMetadata(
  request: GenerationRequest,
  labels: JsonObject[string],
  target: RenderTarget,
): JsonObject | undefined {
  const user = request.user ?? request.safetyIdentifier;
  if (user === undefined && !isJsonObject(labels)) return undefined;
  const { user_id: _raw, ...rest } = isJsonObject(labels) ? labels : {};
  return { ...rest, ...(user !== undefined && { user_id: target.hashUser(user) }) };
}

const NATIVE_TIERS: ReadonlySet<string> = new Set(['auto', 'standard_only']);

function renderTier({ serviceTier }: GenerationRequest, report: Report): JsonObject {
  if (serviceTier === undefined) return {};
  if (NATIVE_TIERS.has(serviceTier)) return { service_tier: serviceTier };
  report.dropped(report.name('serviceTier'), `the upstream has no tier ${JSON.stringify(serviceTier)}`);
  return {};
}

const JSON_INSTRUCTION = 'Answer with a single JSON object and nothing else.';

/** The shape of the answer; what cannot be demanded is asked for in the system prompt. */
function renderFormat(
  { format, formatFacts, outputFormat }: GenerationRequest,
  target: RenderTarget,
  system: JsonObject[],
  report: Report,
): JsonObject {
  const field = report.name('outputFormat');
  switch (outputFormat?.type) {
    case 'json-schema':
      if (!takesSchemas(target)) {
        report.dropped(field, 'the endpoint takes no output format');
        return {};
      }
      if (format === 'messages') return { format: { type: 'json_schema', schema: outputFormat.schema } };
      return renderNamedSchema(outputFormat, `${field}${formatFacts.schemaPath}`, report);
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

/** A schema as other formats give it. `field`: where the caller wrote what is beside the schema. */
function renderNamedSchema(
  { name, schema, description, strict }: Extract<OutputFormat, { type: 'json-schema' }>,
  field: string,
  report: Report,
): JsonObject {
  if (name !== '') report.dropped(`${field}.name`, 'the upstream has no names for schemas');
  if (strict === true) {
    report.dropped(`${field}.strict`, 'the upstream has no such field: it enforces every schema');
  } else if (strict === false) {
    report.coerced(`${field}.strict`, 'the upstream enforces every schema');
  }
  const isDescribed = description !== undefined && schema.description === undefined;
  if (isDescribed) report.coerced(`${field}.description`, 'became the description of the schema itself');
  else if (description !== undefined) report.dropped(`${field}.description`, 'the schema has its own');
  return { format: { type: 'json_schema', schema: isDescribed ? { description, ...schema } : schema } };
}

function takesSchemas({ supportedParameters }: RenderTarget): boolean {
  return (
    supportedParameters === undefined ||
    supportedParameters.has('structured_outputs') ||
    supportedParameters.has('response_format')
  );
}

/** Sampling settings that this dialect has, with their names and the public names of parameters. */
const SAMPLING: readonly (readonly [field: keyof Sampling, wire: string, parameter: string])[] = [
  ['temperature', 'temperature', 'temperature'],
  ['topP', 'top_p', 'top_p'],
  ['topK', 'top_k', 'top_k'],
  ['stop', 'stop_sequences', 'stop'],
];

/** Below this the upstream takes no `top_p` while thinking. */
const LEAST_TOP_P_WHILE_THINKING = 0.95;

const CONFLICTS_WITH_THINKING: Readonly<Partial<Record<keyof Sampling, (value: unknown) => boolean>>> = {
  temperature: (value) => value !== 1,
  topP: (value) => (value as number) < LEAST_TOP_P_WHILE_THINKING,
  topK: () => true,
};

const MAX_TEMPERATURE = 1;

function renderSampling(
  { sampling }: GenerationRequest,
  target: RenderTarget,
  isThinking: boolean,
  report: Report,
): JsonObject {
  const body: JsonObject = {};
  for (const [field, wire, parameter] of SAMPLING) {
    const value = sampling[field];
    if (value === undefined) continue;
    if (target.supportedParameters?.has(parameter) === false) {
      report.dropped(report.name(field), 'the endpoint does not take it');
    } else if (isThinking && CONFLICTS_WITH_THINKING[field]?.(value) === true) {
      report.dropped(report.name(field), 'the upstream does not take it while thinking');
    } else if (field === 'temperature') {
      body[wire] = lowered(value as number, report);
    } else {
      body[wire] = value as JsonObject[string];
    }
  }
  return body;
}

function relayedTemperature({ sampling }: GenerationRequest, report: Report): { temperature?: number } {
  return sampling.temperature === undefined ? {} : { temperature: lowered(sampling.temperature, report) };
}

function lowered(temperature: number, report: Report): number {
  if (temperature <= MAX_TEMPERATURE) return temperature;
  report.coerced(report.name('temperature'), `lowered to ${MAX_TEMPERATURE}, the highest the upstream takes`);
  return MAX_TEMPERATURE;
}

// --- Counting tokens -------------------------------------------------------------------------------------------------

/** What is about the answer, or about whom it is for: an upstream that only counts the prompt refuses it. */
const UNCOUNTED_FIELDS: ReadonlySet<string> = new Set([
  'max_tokens',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'service_tier',
]);

/**
 * Body of the native `POST /messages/count_tokens`: a request of this format as the caller wrote it, others translated.
 * The limit of the endpoint's output does not matter to it.
 */
export function renderCountTokens(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const { maxOutputTokens: _uncounted, ...rest } = target;
  const render = request.format === 'messages' ? renderRelay : renderRequest;
  const rendered = render(request, rest);
  const body = Object.fromEntries(
    Object.entries(rendered.body).filter(([field]) => !UNCOUNTED_FIELDS.has(field)),
  );
  return { ...rendered, body };
}
