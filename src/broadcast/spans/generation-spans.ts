import { isBlocked } from '../../following/guardrail-entries.ts';
import { boundedText } from '../../kit/json/bounded-json.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { booleanAt, numberAt, objectAt, objectsAt, textAt } from '../../kit/json/members.ts';
import { usdOf } from '../../kit/money.ts';
import type { GenerationContent } from '../../ports/content/content.ts';
import type { Destination } from '../../ports/following/destinations.ts';
import type { FollowedGeneration } from '../../ports/following/follower.ts';
import type { StoredGeneration } from '../../ports/generations/generations.ts';
import type { OtlpTarget } from '../destination-target.ts';
import { type AnyValue, type KeyValue, SPAN_KINDS, type Span, STATUS_CODES } from '../otlp/messages.ts';
import { anyValue, unixNano } from '../otlp/values.ts';
import { attemptSpans, fallbackEvents } from './attempt-spans.ts';
import { type AttributeValues, addAttributes, attributes, providerNameOf } from './conventions.ts';
import { costAt } from './costs.ts';
import { guardrailSpans } from './guardrail-spans.ts';
import { inputMessages, outputMessages } from './messages.ts';
import { RowTimes } from './row-times.ts';
import { MAX_NAME_CHARACTERS, traceNameAt } from './span-names.ts';
import { SpanPlace } from './span-place.ts';
import { toolSpans } from './tool-spans.ts';

export type SentParts = Pick<
  Destination,
  'privacyMode' | 'sendsCost' | 'sendsIdentity' | 'sendsRequestContext'
> &
  Pick<OtlpTarget, 'metadataPrefix'>;

/** Names of operations by kind of request; those that the conventions do not name are our own. */
const OPERATIONS: Readonly<Record<string, string>> = {
  completions: 'chat',
  embeddings: 'embeddings',
  decisions: 'decide',
  classification: 'classify',
};

/**
 * The spans of a generation: one for the whole, and in it one for each upstream call, call of a server tool and
 * guardrail. The same generation always gives the same ids.
 */
export function generationSpans({ generation, content }: FollowedGeneration, sent: SentParts): Span[] {
  const { row } = generation;
  const place = new SpanPlace(generation);
  const times = new RowTimes(generation);
  const operation = OPERATIONS[textAt(row, 'api_type') ?? ''] ?? 'chat';
  const said = sent.privacyMode || isBlocked(row) ? undefined : content;
  const parts = { row, place, times, operation, sendsCost: sent.sendsCost };
  const failure = failureOf(row);
  const events = fallbackEvents(parts);
  const list = attributes(answerAttributes(generation, operation));
  addAttributes(list, requestAttributes(row));
  if (sent.sendsCost) addAttributes(list, costAttributes(generation));
  if (sent.sendsIdentity) addAttributes(list, identityAttributes(generation));
  if (sent.sendsRequestContext) addAttributes(list, contextAttributes(row));
  if (said !== undefined) addAttributes(list, contentAttributes(said, row));
  if (failure !== undefined) addAttributes(list, { errorType: failure.type, status: failure.status });
  const leftOut = addMetadata(list, objectAt(row, 'trace') ?? {}, sent.metadataPrefix);
  const root: Span = {
    traceId: place.root.traceId,
    spanId: place.root.spanId,
    traceState: place.root.traceState,
    parentSpanId: place.root.parentSpanId,
    flags: place.root.flags,
    name: traceNameAt(row, 'span_name') ?? `${operation} ${textAt(row, 'model') ?? ''}`.trim(),
    kind: SPAN_KINDS.server,
    startTimeUnixNano: unixNano(times.startMs),
    endTimeUnixNano: unixNano(times.endMs),
    attributes: list,
    droppedAttributesCount: leftOut > 0 ? leftOut : undefined,
    events: events.length > 0 ? events : undefined,
    status: failure && { code: STATUS_CODES.error, message: failure.message },
  };
  return [
    root,
    ...guardrailSpans(row, place, times),
    ...attemptSpans(parts),
    ...toolSpans(row, place, times, sent.sendsCost),
  ];
}

function answerAttributes({ id, row }: StoredGeneration, operation: string): AttributeValues {
  const provider = textAt(row, 'provider_name');
  const input = numberAt(row, 'tokens_prompt') ?? 0;
  const output = numberAt(row, 'tokens_completion') ?? 0;
  const finish = textAt(row, 'finish_reason');
  const latency = numberAt(row, 'latency');
  const isStreamed = booleanAt(row, 'streamed');
  const routing = objectAt(row, 'routing');
  return {
    generationId: id,
    operation,
    provider: provider === undefined ? undefined : providerNameOf(provider),
    requestModel: textAt(routing, 'requested') ?? textAt(row, 'model'),
    responseModel: provider === undefined ? undefined : textAt(row, 'model_permaslug'),
    responseId: textAt(row, 'upstream_id'),
    isStreamed: isStreamed === true ? true : undefined,
    finishReasons: finish === undefined ? undefined : [finish],
    timeToFirstChunk: isStreamed === true && latency !== undefined ? latency / 1_000 : undefined,
    inputTokens: input,
    cachedTokens: positive(numberAt(row, 'native_tokens_cached')),
    outputTokens: output,
    reasoningTokens: positive(numberAt(row, 'native_tokens_reasoning')),
    totalTokens: input + output,
    usageSource: textAt(row, 'usage_source'),
    serviceTier: textAt(row, 'service_tier'),
    strategy: textAt(routing, 'strategy'),
    attempts: objectsAt(row, 'provider_responses').length,
    isByok: booleanAt(row, 'is_byok'),
    isCancelled: row.cancelled === true ? true : undefined,
    cacheSource: textAt(row, 'response_cache_source_id'),
  };
}

function positive(count: number | undefined): number | undefined {
  return count !== undefined && count > 0 ? count : undefined;
}

function requestAttributes(row: JsonObject): AttributeValues {
  const sessionId = textAt(row, 'session_id');
  const traceName = traceNameAt(row, 'trace_name');
  return {
    userId: textAt(row, 'external_user'),
    sessionId,
    conversationId: sessionId,
    format: textAt(row, 'format'),
    traceName,
    langfuseTraceName: traceName,
  };
}

function costAttributes({ charge, row }: StoredGeneration): AttributeValues {
  return { cost: usdOf(charge.creditNanos), upstreamCost: costAt(row, 'upstream_inference_nanos') };
}

function identityAttributes({ scopes, row }: StoredGeneration): AttributeValues {
  return {
    workspaceId: scopes.workspace,
    keyHash: scopes.key,
    keyCreator: textAt(row, 'creator_user_id'),
  };
}

function contextAttributes(row: JsonObject): AttributeValues {
  return {
    requestId: textAt(row, 'request_id'),
    userAgent: textAt(row, 'user_agent'),
    app: textAt(row, 'app_title'),
    origin: textAt(row, 'origin'),
    presetId: textAt(row, 'preset_id'),
  };
}

function contentAttributes(content: GenerationContent, row: JsonObject): AttributeValues {
  const { completion, reasoning, tool_calls: calls = [] } = content.output;
  const hasAnswer = completion !== null || reasoning !== null || calls.length > 0;
  const input = inputMessages(content);
  return {
    inputMessages: input.text,
    messagesLeftOut: positive(input.leftOut),
    outputMessages: hasAnswer
      ? outputMessages(content, textAt(row, 'finish_reason') ?? null).text
      : undefined,
  };
}

/** The failure of a generation, in words that name no text of it. */
function failureOf(
  row: JsonObject,
): { readonly type: string; readonly status: number | undefined; readonly message: string } | undefined {
  const error = objectAt(row, 'error');
  if (error !== undefined) {
    const type = textAt(error, 'type') ?? 'server';
    const status = numberAt(error, 'status');
    return { type, status, message: `${type} (${status ?? 'no status'})` };
  }
  if (row.finish_reason !== 'error') return undefined;
  return { type: 'interrupted', status: undefined, message: 'the gateway ended before the answer did' };
}

/** Keys of `trace` that have a meaning of their own. */
const KNOWN_TRACE_KEYS: ReadonlySet<string> = new Set([
  'trace_id',
  'trace_name',
  'span_name',
  'generation_name',
  'parent_span_id',
]);

/** Attributes made from `trace`, and characters of a text. */
const MAX_METADATA = 128;
const MAX_VALUE_CHARACTERS = 4_096;

/** What the names of attributes that are made from `trace` begin with. */
const METADATA_PREFIX = 'trace.metadata.';

/**
 * Adds the other keys of `trace`, objects and lists as JSON text, also under the prefix of a receiver that has one.
 * Returns how many are left out: those beyond the limit, and those that are like another one once they are cut.
 */
function addMetadata(list: KeyValue[], trace: JsonObject, ofReceiver: string | undefined): number {
  const prefixes = ofReceiver === undefined ? [METADATA_PREFIX] : [METADATA_PREFIX, ofReceiver];
  const names = new Set<string>();
  let leftOut = 0;
  for (const [key, value] of Object.entries(trace)) {
    if (KNOWN_TRACE_KEYS.has(key) || value === undefined || value === null) continue;
    const name = boundedText(key, MAX_NAME_CHARACTERS);
    if (names.size === MAX_METADATA || names.has(name)) {
      leftOut += 1;
      continue;
    }
    names.add(name);
    const written = metadataValue(value);
    for (const prefix of prefixes) list.push({ key: prefix + name, value: written });
  }
  return leftOut;
}

function metadataValue(value: Json): AnyValue {
  if (typeof value === 'number' || typeof value === 'boolean') return anyValue(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { stringValue: boundedText(text, MAX_VALUE_CHARACTERS) };
}
