import { conversationForm } from '../../ir/format-facts.ts';
import type { GenerationRequest, OutputFormat } from '../../ir/request.ts';
import type { Sampling } from '../../ir/settings.ts';
import { type ExactNumbers, stringifyExactly } from '../../kit/json/exact-numbers.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { compact, textAt } from '../../kit/json/members.ts';
import { NO_HEADERS, type RenderedRequest, type RenderTarget } from '../dialect.ts';
import { INCLUDE_LOGPROBS } from '../shared/include-values.ts';
import { NO_FIELD, NOT_TAKEN } from '../shared/report/field-fates.ts';
import type { Report } from '../shared/report/report.ts';
import { JSON_INSTRUCTION, schemaWithoutName } from '../shared/requests/output-format.ts';
import { cappedLimit } from '../shared/requests/output-limit.ts';
import { refuseSilence } from '../shared/requests/semantics.ts';
import { renderConversation } from './render-content.ts';
import { type RenderContext, renderContext } from './render-context.ts';
import { reportLosses, takes } from './render-losses.ts';
import { renderReasoning } from './render-reasoning.ts';
import { renderTools } from './render-tools.ts';
import { MAX_LOGPROBS, MAX_STOP_SEQUENCES, textPart, type WirePart } from './wire.ts';

/** Renders a request of any format. The model and streaming are part of the path. */
export function renderRequest(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const context = renderContext(request, target);
  const { report } = context;
  const { system, contents } = renderConversation(context);
  refuseSilence(contents, report);
  const tools = renderTools(context);
  const format = renderOutputFormat(context, tools.tools !== undefined, system);
  const config = compact({
    ...renderSampling(context),
    ...renderLogprobs(context),
    maxOutputTokens: cappedLimit(context.request, context.target, context.report),
    ...format,
    thinkingConfig: renderReasoning(context),
    responseModalities: renderModalities(request, report),
    imageConfig: renderImageConfig(request.imageConfig, report),
  });
  reportLosses(request, report);
  const body: JsonObject = {
    contents,
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    ...tools,
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
    ...renderServiceTier(request, report),
  };
  return { body, headers: NO_HEADERS, report: report.entries };
}

// --- Sampling -------------------------------------------------------------------------------------------------------

/** Sampling settings of this dialect, with their names and the functions that fit their values. */
const SAMPLING = [
  ['temperature', 'temperature'],
  ['topP', 'topP'],
  ['topK', 'topK'],
  ['frequencyPenalty', 'frequencyPenalty'],
  ['presencePenalty', 'presencePenalty'],
  ['seed', 'seed'],
  ['stop', 'stopSequences'],
] as const satisfies readonly (readonly [keyof Sampling, string])[];

function renderSampling({ request, target, report }: RenderContext): JsonObject {
  const config: JsonObject = {};
  for (const [field, wire] of SAMPLING) {
    const value = request.sampling[field];
    if (value === undefined) continue;
    if (takes(field, target)) config[wire] = fitting(field, value, report);
    else report.dropped(report.name(field), NOT_TAKEN);
  }
  return config;
}

/** A value as the upstream accepts it; undefined if it is the upstream's default. */
function fitting(
  field: (typeof SAMPLING)[number][0],
  value: number | readonly string[],
  report: Report,
): Json | undefined {
  if (typeof value !== 'number') return fittingStops(value, report);
  switch (field) {
    case 'topK':
      return value === 0 ? undefined : value;
    case 'seed':
      return fittingSeed(value, report);
    default:
      return value;
  }
}

function fittingStops(stops: readonly string[], report: Report): string[] | undefined {
  if (stops.length > MAX_STOP_SEQUENCES) {
    report.coerced(report.name('stop'), `the upstream takes ${MAX_STOP_SEQUENCES}: the others are left out`);
  }
  return stops.length === 0 ? undefined : stops.slice(0, MAX_STOP_SEQUENCES);
}

/** Upstreams accept 32-bit integers. */
function fittingSeed(seed: number, report: Report): number {
  const small = Math.trunc(seed) | 0;
  if (small !== seed) report.coerced(report.name('seed'), `sent as ${small}: the upstream takes 32 bits`);
  return small;
}

function renderLogprobs({ request, target, report }: RenderContext): JsonObject {
  const { logprobs, topLogprobs = 0 } = request.sampling;
  if (logprobs !== true && topLogprobs === 0) return {};
  if (!takes('logprobs', target)) {
    for (const name of logprobsNames(request, report)) report.dropped(name, NOT_TAKEN);
    return {};
  }
  const most = Math.min(topLogprobs, MAX_LOGPROBS);
  return { responseLogprobs: true, ...(most > 0 && { logprobs: most }) };
}

function logprobsNames({ formatFacts, include = [], sampling }: GenerationRequest, report: Report): string[] {
  const included = include.indexOf(INCLUDE_LOGPROBS);
  const asked =
    conversationForm(formatFacts).asksLogprobsInInclude === true
      ? report.name('include', `[${included}]`)
      : report.name('logprobs');
  return [
    ...(sampling.logprobs === true ? [asked] : []),
    ...((sampling.topLogprobs ?? 0) > 0 ? [report.name('topLogprobs')] : []),
  ];
}

// --- Output format --------------------------------------------------------------------------------------------------

const JSON_TYPE = { responseMimeType: 'application/json' } as const;

/** The output format; asks for it in the system prompt if it cannot be enforced. */
function renderOutputFormat(
  { request, target, traits, report }: RenderContext,
  hasTools: boolean,
  system: WirePart[],
): JsonObject {
  const { outputFormat } = request;
  const field = report.name('outputFormat');
  if (outputFormat === undefined || outputFormat.type === 'text') return {};
  if (outputFormat.type === 'opaque') {
    const kind = textAt(outputFormat.value, 'type') ?? 'such';
    report.dropped(field, `the upstream has no ${kind} format`);
    return {};
  }
  if (!takes('outputFormat', target)) {
    report.dropped(field, NOT_TAKEN);
    return {};
  }
  if (hasTools && !traits.takesFormatWithTools) {
    report.coerced(
      field,
      'the model takes no format beside tools: it became an instruction in the system prompt',
    );
    system.push(textPart(instructionFor(outputFormat, request.exactNumbers)));
    return {};
  }
  if (outputFormat.type === 'json') return JSON_TYPE;
  if (target.supportedParameters?.has('structured_outputs') === false) {
    report.coerced(field, 'the endpoint takes no schema: any JSON is asked for');
    return JSON_TYPE;
  }
  const { namesSchemas, schemaPath } = conversationForm(request.formatFacts);
  const place = `${field}${schemaPath}`;
  if (!namesSchemas) return { ...JSON_TYPE, responseJsonSchema: outputFormat.schema };
  return { ...JSON_TYPE, responseJsonSchema: schemaWithoutName(outputFormat, place, report) };
}

type JsonFormat = Extract<OutputFormat, { type: 'json' | 'json-schema' }>;

function instructionFor(format: JsonFormat, numbers: ExactNumbers | undefined): string {
  if (format.type === 'json') return JSON_INSTRUCTION;
  return `${JSON_INSTRUCTION} It must match this JSON Schema: ${stringifyExactly(format.schema, numbers)}`;
}

// --- Modalities -----------------------------------------------------------------------------------------------------

/** Output modalities by the callers' words. */
const MODALITIES: ReadonlyMap<string, string> = new Map([
  ['text', 'TEXT'],
  ['image', 'IMAGE'],
]);

/** Text is the default; models that only write text refuse the field. */
function renderModalities({ modalities = [] }: GenerationRequest, report: Report): string[] | undefined {
  const lost = modalities.filter((word) => !MODALITIES.has(word));
  if (lost.length > 0) {
    report.coerced(report.name('modalities'), `sent without ${lost.join(', ')}, which cannot be passed on`);
  }
  const kept = modalities.flatMap((word) => MODALITIES.get(word) ?? []);
  return kept.some((word) => word !== 'TEXT') ? kept : undefined;
}

const IMAGE_SETTINGS: ReadonlyMap<string, string> = new Map([
  ['aspect_ratio', 'aspectRatio'],
  ['image_size', 'imageSize'],
]);

function renderImageConfig(config: JsonObject | undefined, report: Report): JsonObject | undefined {
  if (config === undefined) return undefined;
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(config)) {
    const wire = IMAGE_SETTINGS.get(name);
    if (wire !== undefined && value !== null) kept[wire] = value;
    else if (value !== null) report.dropped(report.name('imageConfig', `.${name}`), NO_FIELD);
  }
  return Object.keys(kept).length > 0 ? kept : undefined;
}

// --- Service tier ---------------------------------------------------------------------------------------------------

/** Service tiers by the words of all formats; the default is not sent. */
const SERVICE_TIERS: ReadonlyMap<string, string | undefined> = new Map([
  ['auto', undefined],
  ['default', undefined],
  ['standard_only', undefined],
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['fast', 'priority'],
]);

function renderServiceTier({ serviceTier }: GenerationRequest, report: Report): JsonObject {
  if (serviceTier === undefined) return {};
  const tier = SERVICE_TIERS.get(serviceTier);
  if (!SERVICE_TIERS.has(serviceTier)) {
    report.dropped(report.name('serviceTier'), 'the upstream has no such tier');
  }
  return tier === undefined ? {} : { serviceTier: tier };
}
