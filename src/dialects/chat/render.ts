import type { CacheMark } from '../../ir/items.ts';
import { NO_QUIRKS } from '../../ir/quirks.ts';
import type { GenerationRequest, OutputFormat } from '../../ir/request.ts';
import type { RequestField, Sampling } from '../../ir/settings.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { compact, membersBeyond, objectAt, objectsOf, textAt } from '../../kit/json/members.ts';
import { NO_HEADERS, type RenderedRequest, type RenderTarget } from '../dialect.ts';
import { withUnknownFields } from '../shared/report/passed-on-fields.ts';
import { Report } from '../shared/report/report.ts';
import { renderCacheMark } from '../shared/requests/gateway-fields.ts';
import { renderSchemaFormat } from '../shared/requests/output-format.ts';
import { cappedLimit, limitFieldAt } from '../shared/requests/output-limit.ts';
import { knownVerbosity } from '../shared/requests/verbosity.ts';
import { flatNames } from '../shared/tools/tool-names.ts';
import { withFewerStops, withQuirks } from './quirks.ts';
import { renderConversation } from './render-content.ts';
import { isForGateway, NO_CACHE_MARKS, reportLosses, takes, withoutUnsupported } from './render-losses.ts';
import { renderReasoning } from './render-reasoning.ts';
import { renderTools, type ToolsContext } from './render-tools.ts';
import { SAMPLING } from './settings.ts';
import { CHAT_MODALITIES, LIMIT_FIELDS } from './wire.ts';

export function renderRequest(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const report = new Report(request);
  const names = flatNames(request);
  const context = { request, target, report, names };
  reportLosses(request, report);
  const body: JsonObject = {
    model: target.model,
    messages: markedConversation(context),
    ...SAMPLING.render(withLogprobsSwitch(request.sampling)),
    ...renderLimit(request, target, report),
    ...renderTools(context),
    ...renderReasoning(request, target, report),
    ...renderOutputFormat(request.outputFormat, target, report),
    ...renderSettings(request, target, report),
    ...request.ext.chat,
    stream: request.stream,
    ...(request.stream && {
      stream_options: { ...objectAt(request.ext.chat, 'stream_options'), include_usage: true },
    }),
  };
  const whole = withUnknownFields(request, 'chat', body, isForGateway, report);
  return {
    body: withoutRefusedFields(whole, request, target, report),
    headers: NO_HEADERS,
    report: report.entries,
  };
}

/** The body without fields that the endpoint or its provider does not take. */
export function withoutRefusedFields(
  body: JsonObject,
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): JsonObject {
  const supported = withoutUnsupported(body, request, target, report);
  return withQuirks(withFewerStops(supported, target, report), request, target, report);
}

function renderSettings(request: GenerationRequest, target: RenderTarget, report: Report): JsonObject {
  const user = request.user ?? request.safetyIdentifier;
  return compact({
    verbosity: renderVerbosity(request, target, report),
    modalities: renderModalities(request, report),
    image_config: request.imageConfig,
    prompt_cache_key: request.promptCacheKey,
    prompt_cache_options: ifTaken('promptCacheOptions', request.promptCacheOptions, target, () =>
      report.dropped(report.name('promptCacheOptions'), 'the upstream does not know it'),
    ),
    service_tier: renderServiceTier(request, report),
    metadata: ifTaken('metadata', renderMetadata(request, target), target, () => {
      const labels = membersBeyond(request.metadata ?? {}, new Set(['user_id']));
      if (labels !== undefined) report.dropped(report.name('metadata'), 'labels stay with the gateway');
    }),
    user: user === undefined ? undefined : target.hashUser(user),
  });
}

function ifTaken(
  field: RequestField,
  value: JsonObject | undefined,
  target: RenderTarget,
  onDrop: () => void,
): JsonObject | undefined {
  if (value === undefined || takes(field, target)) return value;
  onDrop();
  return undefined;
}

// --- Conversation ---------------------------------------------------------------------------------------------------

/** The conversation with the automatic cache mark, if the request asks for one and the endpoint takes it. */
function markedConversation(context: ToolsContext): JsonObject[] {
  const { request, target, report } = context;
  const takesCacheMarks = takesMarks(target);
  const quirks = target.quirks ?? NO_QUIRKS;
  const messages = renderConversation({ ...context, takesCacheMarks, quirks });
  if (request.cache === undefined) return messages;
  const marked = takesCacheMarks ? withMarkOnLastText(messages, request.cache) : undefined;
  if (marked === undefined) report.dropped(report.name('cache'), NO_CACHE_MARKS);
  return marked ?? messages;
}

// --- Cache marks ----------------------------------------------------------------------------------------------------

/** Marks are sent only to endpoints that are known to take them. */
export function takesMarks(target: RenderTarget): boolean {
  return takes('cache', target);
}

/** Automatic caching: the messages with the mark on their last text; undefined if there is no text. */
function withMarkOnLastText(messages: readonly JsonObject[], mark: CacheMark): JsonObject[] | undefined {
  for (let position = messages.length - 1; position >= 0; position--) {
    const message = messages[position];
    const content = markedContent(message?.content, renderCacheMark(mark));
    if (content !== undefined) return messages.with(position, { ...message, content });
  }
  return undefined;
}

function markedContent(content: Json | undefined, mark: JsonObject): JsonObject[] | undefined {
  if (typeof content === 'string') {
    return content === '' ? undefined : [{ type: 'text', text: content, cache_control: mark }];
  }
  const parts = objectsOf(content);
  const last = parts.findLastIndex(({ type }) => type === 'text');
  return last === -1 ? undefined : parts.with(last, { cache_control: mark, ...parts[last] });
}

// --- Sampling -------------------------------------------------------------------------------------------------------

/** The switch stands wherever alternatives are asked for, and no number of them without it. */
function withLogprobsSwitch(sampling: Sampling): Sampling {
  const { logprobs, topLogprobs } = sampling;
  if (logprobs === true || topLogprobs === undefined) return sampling;
  if (topLogprobs > 0) return { ...sampling, logprobs: logprobs ?? true };
  const { topLogprobs: _none, ...rest } = sampling;
  return rest;
}

// --- Output limit ---------------------------------------------------------------------------------------------------

function renderLimit(request: GenerationRequest, target: RenderTarget, report: Report): JsonObject {
  const limit = cappedLimit(request, target, report);
  return limit === undefined ? {} : { [limitFieldAt(LIMIT_FIELDS, target)]: limit };
}

// --- Output format --------------------------------------------------------------------------------------------------

function renderOutputFormat(
  format: OutputFormat | undefined,
  target: RenderTarget,
  report: Report,
): JsonObject {
  switch (format?.type) {
    case undefined:
    case 'text':
      return {};
    case 'json':
      return { response_format: { type: 'json_object' } };
    case 'json-schema':
      if (!takesSchemas(target)) return { response_format: anyObject(report) };
      return { response_format: { type: 'json_schema', json_schema: renderSchemaFormat(format) } };
    case 'opaque':
      if (format.dialect === 'chat') return { response_format: format.value };
      report.dropped(
        report.name('outputFormat'),
        `the chat format has no ${textAt(format.value, 'type') ?? 'such'} format`,
      );
      return {};
  }
}

function takesSchemas({ supportedParameters: taken, quirks }: RenderTarget): boolean {
  const isListedWithout = taken?.has('response_format') === true && !taken.has('structured_outputs');
  return quirks?.refusesSchemas !== true && !isListedWithout;
}

export function anyObject(report: Report): JsonObject {
  report.coerced(report.name('outputFormat'), 'the endpoint takes no schema: any JSON object is asked for');
  return { type: 'json_object' };
}

/** A value that will be left out is not changed, so that the report has one entry for it. */
export function renderVerbosity(
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): string | undefined {
  const isTaken = takes('verbosity', target) && target.quirks?.refusedFields?.includes('verbosity') !== true;
  return isTaken ? knownVerbosity(request, report) : request.verbosity;
}

// --- Modalities -----------------------------------------------------------------------------------------------------

/** Words of other formats are sent only if this format documents them. */
function renderModalities(request: GenerationRequest, report: Report): string[] | undefined {
  const { modalities, format } = request;
  if (modalities === undefined || format === 'chat') return modalities && [...modalities];
  const kept = modalities.filter((word) => CHAT_MODALITIES.some((known) => known === word));
  if (kept.length < modalities.length) {
    report.coerced(report.name('modalities'), 'sent without those that the upstream does not make');
  }
  return kept.length > 0 ? kept : undefined;
}

// --- Service tier ---------------------------------------------------------------------------------------------------

/** Service tiers of chat upstreams, by the requested word. */
const SERVICE_TIERS: ReadonlyMap<string, string> = new Map([
  ...['auto', 'default', 'flex', 'priority', 'scale', 'ultrafast'].map((tier) => [tier, tier] as const),
  ['fast', 'priority'],
]);

function renderServiceTier({ serviceTier, speed }: GenerationRequest, report: Report): string | undefined {
  if (serviceTier === undefined) {
    if (speed === 'fast') report.coerced(report.name('speed'), 'sent as service tier priority');
    return speed === 'fast' ? 'priority' : undefined;
  }
  const tier = SERVICE_TIERS.get(serviceTier);
  if (tier === undefined) report.dropped(report.name('serviceTier'), 'the upstream has no such tier');
  if (speed !== undefined && !(speed === 'fast' && tier === 'priority')) {
    report.dropped(report.name('speed'), 'chat upstreams know only the service tier, which is given');
  }
  return tier;
}

// --- Metadata and end users -----------------------------------------------------------------------------------------

function renderMetadata(request: GenerationRequest, target: RenderTarget): JsonObject | undefined {
  return request.metadata === undefined ? undefined : withHashedUserId(request.metadata, target);
}

export function withHashedUserId(metadata: JsonObject, target: RenderTarget): JsonObject {
  const id = textAt(metadata, 'user_id');
  return id === undefined ? metadata : { ...metadata, user_id: target.hashUser(id) };
}
