import type { DialectName } from '../../ir/items.ts';
import type { TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest, RequestField, Sampling } from '../../ir/request.ts';
import { isJsonObject, type JsonObject } from '../../kit/json.ts';
import type { RenderedRequest, RenderTarget } from '../dialect.ts';
import { relayBody } from '../relay.ts';
import { Report } from '../report.ts';
import { markLastCacheable } from './cache-breakpoint.ts';
import { withoutForeignTraces } from './foreign-traces.ts';
import { renderConversation } from './render-content.ts';
import { interruptsThoughts, maxTokensOf, renderThinking, THOUGHTS_MISSING } from './render-thinking.ts';
import { renderTools } from './render-tools.ts';
import { GATEWAY_FIELDS, type WireMessage } from './wire.ts';

const HEADERS = { 'anthropic-version': '2023-06-01' } as const;

/** A request of any format in this dialect's words. */
export function renderRequest(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const report = new Report(request);
  const { system, messages } = renderConversation(request, report);
  const thinking = renderThinking(request, target, messages, report);
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
    ...renderTools(request, target, thinking.isThinking, report),
    ...(thinking.thinking !== undefined && { thinking: thinking.thinking }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...renderSampling(request, target, thinking.isThinking, report),
    ...(native.context_management !== undefined && { context_management: native.context_management }),
    ...(metadata !== undefined && { metadata }),
    ...renderTier(request, report),
    ...(request.speed === 'fast' && { speed: 'fast' }),
    ...(request.stream && { stream: true }),
  };
  reportLost(request, report);
  return rendered(request, body, report);
}

/** The caller's own body of this format. */
export function renderRelay(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const report = new Report(request);
  const messages = withoutForeignTraces(request.body.messages as unknown as WireMessage[], report);
  const { service_tier } = renderTier(request, report);
  for (const field of request.unknownFields) {
    if (GATEWAY_FIELDS.has(field)) report.dropped(field, 'is not known on this route');
  }
  const body = relayBody(request, GATEWAY_FIELDS, {
    model: target.model,
    max_tokens: maxTokensOf(request, target),
    ...(messages !== undefined && { messages, ...withoutThinking(request, messages, report) }),
    metadata: renderMetadata(request, request.body.metadata ?? undefined, target),
    service_tier,
    ...(request.speed === 'standard' && { speed: undefined }),
  });
  return rendered(request, body, report);
}

/** Where thoughts were taken out of a turn that goes on, the upstream would refuse to think any further. */
function withoutThinking(
  { body }: GenerationRequest,
  messages: readonly JsonObject[],
  report: Report,
): JsonObject {
  const isOn = isJsonObject(body.thinking) && body.thinking.type === 'enabled';
  if (!isOn || !interruptsThoughts(messages)) return {};
  report.coerced(report.name('reasoning'), THOUGHTS_MISSING);
  return { thinking: { type: 'disabled' } };
}

function rendered(request: GenerationRequest, body: JsonObject, report: Report): RenderedRequest {
  return {
    body: request.cache === undefined ? body : markLastCacheable(body, request.cache, report),
    headers: HEADERS,
    report: distinct(report.entries),
  };
}

/** What happened to many items alike is told once. */
function distinct(entries: readonly TranslationEntry[]): TranslationEntry[] {
  return [
    ...new Map(entries.map((entry) => [`${entry.field}\n${entry.action}\n${entry.detail}`, entry])).values(),
  ];
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
  { outputFormat }: GenerationRequest,
  target: RenderTarget,
  system: JsonObject[],
  report: Report,
): JsonObject {
  switch (outputFormat?.type) {
    case 'json-schema':
      if (takesSchemas(target)) return { format: { type: 'json_schema', schema: outputFormat.schema } };
      report.dropped(report.name('outputFormat'), 'the endpoint takes no output format');
      return {};
    case 'json':
      report.coerced(report.name('outputFormat'), 'became an instruction in the system prompt');
      system.push({ type: 'text', text: JSON_INSTRUCTION });
      return {};
    case 'opaque':
      if (outputFormat.dialect === 'messages') return { format: outputFormat.value };
      report.dropped(report.name('outputFormat'), 'the upstream has no such output format');
      return {};
    default:
      return {};
  }
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
    } else if (field === 'temperature' && (value as number) > MAX_TEMPERATURE) {
      report.coerced(report.name(field), `lowered to ${MAX_TEMPERATURE}, the highest the upstream takes`);
      body[wire] = MAX_TEMPERATURE;
    } else {
      body[wire] = value as JsonObject[string];
    }
  }
  return body;
}

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

const LOST_FIELDS = [
  'verbosity',
  'imageConfig',
  'promptCacheKey',
  'promptCacheOptions',
] as const satisfies readonly (RequestField & keyof GenerationRequest)[];

/** What the responses format may ask to have included and every answer of this dialect includes anyway. */
const ALWAYS_INCLUDED = 'reasoning.encrypted_content';

/** Settings that only mean something where they are not the default. */
const HARMLESS: Readonly<Partial<Record<keyof Sampling, unknown>>> = {
  frequencyPenalty: 0,
  presencePenalty: 0,
  repetitionPenalty: 1,
  logprobs: false,
  topLogprobs: 0,
};

/** Tells what the upstream has no field for. */
function reportLost(request: GenerationRequest, report: Report): void {
  const lost = (field: RequestField, place = '') =>
    report.dropped(report.name(field, place), 'the upstream has no such field');
  for (const field of LOST_SAMPLING) {
    const value = request.sampling[field];
    if (value !== undefined && value !== HARMLESS[field]) lost(field);
  }
  for (const field of LOST_FIELDS) if (request[field] !== undefined) lost(field);
  if (request.modalities?.some((modality) => modality !== 'text') === true) lost('modalities');
  if (request.include?.some((value) => value !== ALWAYS_INCLUDED) === true) lost('include');
  for (const [dialect, fields] of Object.entries(request.ext) as [DialectName, JsonObject][]) {
    if (dialect === 'messages') continue;
    for (const field of Object.keys(fields)) report.dropped(field, 'the upstream has no such field');
  }
  for (const field of request.unknownFields) {
    report.dropped(field, 'nobody documents it: passed on only to upstreams of the same format');
  }
}
