import { conversationForm } from '../../ir/format-facts.ts';
import type { GenerationRequest, OutputFormat } from '../../ir/request.ts';
import { stringifyExactly } from '../../kit/json/exact-numbers.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { define } from '../../kit/json/members.ts';
import { NO_HEADERS, type RenderedRequest, type RenderTarget } from '../dialect.ts';
import type { Report } from '../shared/report/report.ts';
import { BETA_HEADER, BETA_MEMBER } from '../shared/requests/betas.ts';
import { conflictsWithThinking, loweredTemperature } from '../shared/requests/claude-sampling.ts';
import { JSON_INSTRUCTION } from '../shared/requests/output-format.ts';
import { refuseSilence } from '../shared/requests/semantics.ts';
import { renderConversation } from './render-content.ts';
import { type Mark, type Piece, type RenderContext, renderContext, type Turn } from './render-context.ts';
import { reportLosses, takes } from './render-losses.ts';
import { renderReasoning } from './render-reasoning.ts';
import { renderTools } from './render-tools.ts';
import { LABEL_NAME, LABEL_VALUE, MAX_CACHE_POINTS, MAX_LABELS, textBlock, type WireRole } from './wire.ts';

/** Renders a request of any format. The model is part of the path. */
export function renderRequest(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const context = renderContext(request, target);
  const { report } = context;
  const { system, turns } = renderConversation(context);
  refuseSilence(turns, report);
  const { maxTokens, fields, effort, isThinking } = renderReasoning(context, turns);
  const format = renderOutputFormat(context);
  const { tools, toolChoice } = renderTools(context, turns, isThinking);
  const prompt = withCachePoints({ tools, system: [...system, ...format.system], turns }, context);
  const sampling = renderSampling(context, isThinking);
  const inference = { ...(maxTokens !== undefined && { maxTokens }), ...sampling.inference };
  const additional = { ...fields, ...sampling.additional, ...renderBetas(context) };
  const labels = renderMetadata(request, report);
  const body: JsonObject = {
    messages: prompt.messages,
    ...(prompt.system.length > 0 && { system: prompt.system }),
    ...(Object.keys(inference).length > 0 && { inferenceConfig: inference }),
    ...(prompt.tools.length > 0 && {
      toolConfig: { tools: prompt.tools, ...(toolChoice !== undefined && { toolChoice }) },
    }),
    ...(Object.keys(additional).length > 0 && { additionalModelRequestFields: additional }),
    ...(sampling.inference.stopSequences !== undefined && {
      additionalModelResponseFieldPaths: [request.stream ? '/delta/stop_sequence' : '/stop_sequence'],
    }),
    ...((format.outputConfig !== undefined || effort !== undefined) && {
      outputConfig: { ...format.outputConfig, ...(effort !== undefined && { effort }) },
    }),
    ...(labels !== undefined && { requestMetadata: labels }),
    ...renderServiceTier(request, report),
  };
  reportLosses(request, report);
  return { body, headers: NO_HEADERS, report: report.entries };
}

// --- Cache marks ----------------------------------------------------------------------------------------------------

/** A prompt in the order in which the upstream reads it. */
export interface PromptPieces {
  readonly tools: readonly Piece[];
  readonly system: readonly Piece[];
  readonly turns: readonly Turn[];
}

/** `PromptPieces` on the wire. */
export interface WirePrompt {
  readonly tools: JsonObject[];
  readonly system: JsonObject[];
  readonly messages: { readonly role: WireRole; readonly content: JsonObject[] }[];
}

/** Adds a cache point after each marked piece, as far as the model accepts them. */
export function withCachePoints(prompt: PromptPieces, context: RenderContext): WirePrompt {
  const points = cachePoints(prompt, context);
  function write(pieces: readonly Piece[]): JsonObject[] {
    const blocks: JsonObject[] = [];
    for (const piece of pieces) {
      blocks.push(piece.block);
      const point = points.get(piece);
      if (point !== undefined) blocks.push(point);
    }
    return blocks;
  }
  const tools = write(prompt.tools);
  const system = write(prompt.system);
  const messages: WirePrompt['messages'] = [];
  for (const { role, pieces } of prompt.turns) messages.push({ role, content: write(pieces) });
  return { tools, system, messages };
}

function cachePoints(prompt: PromptPieces, context: RenderContext): ReadonlyMap<Piece, JsonObject> {
  const { traits, report } = context;
  const said = [...prompt.system, ...prompt.turns.flatMap(({ pieces }) => pieces)];
  const takesTools = traits.cachePoints === 'everywhere';
  const refused =
    traits.cachePoints === undefined ? [...prompt.tools, ...said] : takesTools ? [] : prompt.tools;
  for (const { mark } of refused)
    if (mark !== undefined) report.dropped(mark.field, 'the model takes none here');
  const places = traits.cachePoints === undefined ? [] : takesTools ? [...prompt.tools, ...said] : said;
  const marks = marksOf(places, context);
  for (const [, mark] of marks.slice(0, Math.max(0, marks.length - MAX_CACHE_POINTS))) {
    report.dropped(mark.field, `the upstream takes ${MAX_CACHE_POINTS} of them: the last ones are kept`);
  }
  return new Map(marks.slice(-MAX_CACHE_POINTS).map(([piece, mark]) => [piece, cachePoint(mark, context)]));
}

/** The caller's marks in the order of the prompt, and the automatic one on the last piece that can carry it. */
function marksOf(places: readonly Piece[], { request, report }: RenderContext): [Piece, Mark][] {
  const last = request.cache === undefined ? undefined : places.findLast(isMarkable);
  const field = report.name('cache');
  if (request.cache !== undefined && last === undefined) report.dropped(field, 'the model takes none here');
  const marks: [Piece, Mark][] = [];
  for (const piece of places) {
    const automatic =
      piece === last && request.cache !== undefined ? { cache: request.cache, field } : undefined;
    const mark = piece.mark ?? automatic;
    if (mark !== undefined) marks.push([piece, mark]);
  }
  return marks;
}

/** False for thoughts: no cache point may follow them. */
function isMarkable({ block }: Piece): boolean {
  return block.reasoningContent === undefined;
}

function cachePoint({ cache, field }: Mark, { traits, report }: RenderContext): JsonObject {
  // Five minutes is the default lifetime.
  if (cache.ttl !== '1h') return { cachePoint: { type: 'default' } };
  if (traits.hasCacheTtl === true) return { cachePoint: { type: 'default', ttl: cache.ttl } };
  report.coerced(`${field}.ttl`, 'the model caches for five minutes only');
  return { cachePoint: { type: 'default' } };
}

// --- Sampling -------------------------------------------------------------------------------------------------------

interface RenderedSampling {
  readonly inference: JsonObject;
  readonly additional: JsonObject;
}

function renderSampling(context: RenderContext, isThinking: boolean): RenderedSampling {
  const { request, target, traits, report } = context;
  const { temperature, topP, topK, stop } = request.sampling;
  const isTaken = (field: 'temperature' | 'topP' | 'topK' | 'stop'): boolean => {
    const value = request.sampling[field];
    if (value === undefined) return false;
    if (!takes(field, target)) {
      report.dropped(report.name(field), 'the endpoint does not take it');
      return false;
    }
    if (isThinking && conflictsWithThinking(field, value)) {
      report.dropped(report.name(field), 'the upstream does not take it while thinking');
      return false;
    }
    return true;
  };
  const sequences = (stop ?? []).filter((sequence) => sequence !== '');
  return {
    inference: {
      ...(isTaken('temperature') && { temperature: loweredTemperature(temperature ?? 0, report) }),
      ...(isTaken('topP') && { topP }),
      ...(isTaken('stop') && sequences.length > 0 && { stopSequences: sequences }),
    },
    additional: isTaken('topK') ? renderTopK(topK, traits.topK, report) : {},
  };
}

function renderTopK(topK = 0, path: readonly string[] | undefined, report: Report): JsonObject {
  if (path === undefined) {
    report.dropped(report.name('topK'), 'the model does not take it');
    return {};
  }
  return path.reduceRight<Json>((inner, name) => ({ [name]: inner }), topK) as JsonObject;
}

// --- Output format --------------------------------------------------------------------------------------------------

interface RenderedFormat {
  readonly outputConfig?: JsonObject;
  /** System prompt, with an instruction if the format cannot be enforced. */
  readonly system: readonly Piece[];
}

const ANY_FORMAT: RenderedFormat = { system: [] };

function renderOutputFormat(context: RenderContext): RenderedFormat {
  const { request, target, traits, report } = context;
  const { outputFormat } = request;
  const field = report.name('outputFormat');
  switch (outputFormat?.type) {
    case 'json-schema':
      return traits.hasSchemas === true && takes('outputFormat', target)
        ? { outputConfig: { textFormat: renderSchema(outputFormat, request, report) }, system: [] }
        : asInstruction(
            `${JSON_INSTRUCTION} It must match this JSON schema: ${stringifyExactly(outputFormat.schema, request.exactNumbers)}`,
            context,
          );
    case 'json':
      return asInstruction(JSON_INSTRUCTION, context);
    case 'opaque':
      report.dropped(field, 'the upstream has no such output format');
      return ANY_FORMAT;
    default:
      return ANY_FORMAT;
  }
}

/**
 * If the model does not enforce schemas, asks for the format in the system prompt. A forced call of a tool with that
 * schema would take the caller's tools and the model's thinking away.
 */
function asInstruction(instruction: string, { report }: RenderContext): RenderedFormat {
  report.coerced(report.name('outputFormat'), 'became an instruction in the system prompt');
  return { system: [{ block: textBlock(instruction) }] };
}

const SCHEMA_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function renderSchema(
  { name, schema, description, strict }: Extract<OutputFormat, { type: 'json-schema' }>,
  { formatFacts, exactNumbers }: GenerationRequest,
  report: Report,
): JsonObject {
  const field = `${report.name('outputFormat')}${conversationForm(formatFacts).schemaPath}`;
  if (strict === false) report.coerced(`${field}.strict`, 'the upstream enforces every schema');
  const isNamed = SCHEMA_NAME.test(name);
  if (!isNamed && name !== '') report.dropped(`${field}.name`, 'no name that the upstream takes');
  return {
    type: 'json_schema',
    structure: {
      jsonSchema: {
        schema: stringifyExactly(schema, exactNumbers),
        ...(isNamed && { name }),
        ...(description !== undefined && description !== '' && { description }),
      },
    },
  };
}

// --- Service tier ---------------------------------------------------------------------------------------------------

/** Service tiers by the words of all formats; the default is not sent. */
const SERVICE_TIERS: ReadonlyMap<string, string | undefined> = new Map([
  ['auto', undefined],
  ['default', undefined],
  ['standard', undefined],
  ['standard_only', undefined],
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['fast', 'priority'],
  ['reserved', 'reserved'],
]);

function renderServiceTier({ serviceTier, speed }: GenerationRequest, report: Report): JsonObject {
  const isKnown = serviceTier === undefined || SERVICE_TIERS.has(serviceTier);
  if (!isKnown) {
    report.dropped(report.name('serviceTier'), `the upstream has no tier ${JSON.stringify(serviceTier)}`);
  }
  const named = serviceTier === undefined ? undefined : SERVICE_TIERS.get(serviceTier);
  if (speed === 'fast' && named === undefined) {
    report.coerced(report.name('speed'), 'sent as service tier priority');
  } else if (speed === 'fast' && named !== 'priority') {
    report.dropped(report.name('speed'), 'the service tier decides');
  }
  const type = named ?? (speed === 'fast' ? 'priority' : undefined);
  return type === undefined ? {} : { serviceTier: { type } };
}

// --- Metadata and end users -----------------------------------------------------------------------------------------

/** The caller's labels, as far as the upstream accepts them. */
function renderMetadata({ metadata }: GenerationRequest, report: Report): JsonObject | undefined {
  const labels: JsonObject = {};
  for (const [name, value] of Object.entries(metadata ?? {})) {
    const isFull = Object.keys(labels).length >= MAX_LABELS;
    if (!isFull && LABEL_NAME.test(name) && typeof value === 'string' && LABEL_VALUE.test(value)) {
      define(labels, name, value);
      continue;
    }
    const detail = isFull
      ? `the upstream takes ${MAX_LABELS} of them`
      : 'holds what the upstream does not take';
    report.dropped(report.name('metadata', `.${name}`), detail);
  }
  return Object.keys(labels).length === 0 ? undefined : labels;
}

// --- Betas ----------------------------------------------------------------------------------------------------------

/** Betas of the messages format that are documented for models of its maker here. */
const KNOWN_BETAS: ReadonlySet<string> = new Set([
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'dev-full-thinking-2025-05-14',
  'effort-2025-11-24',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'token-efficient-tools-2025-02-19',
  'tool-examples-2025-10-29',
  'tool-search-tool-2025-10-19',
]);

/** The requested betas as a field for the model. Unknown names are left out: one would fail the whole request. */
function renderBetas({ target, traits, report }: RenderContext): JsonObject {
  const asked = [...new Set(target.betas)];
  const isTaken = (beta: string) => traits.hasBetas === true && KNOWN_BETAS.has(beta);
  const lost = asked.filter((beta) => !isTaken(beta));
  if (lost.length > 0) report.dropped(BETA_HEADER, `the upstream does not take ${lost.join(', ')}`);
  const taken = asked.filter(isTaken);
  return taken.length === 0 ? {} : { [BETA_MEMBER]: taken };
}
