import type { JsonObject } from '../../kit/json/json.ts';
import { booleanAt, numberAt, objectAt, objectsAt, stringAt, textAt } from '../../kit/json/members.ts';
import { SPAN_KINDS, type Span, type SpanEvent, STATUS_CODES } from '../otlp/messages.ts';
import { unixNano } from '../otlp/values.ts';
import { addAttributes, attributes, providerNameOf } from './conventions.ts';
import { costAt } from './costs.ts';
import type { RowTimes } from './row-times.ts';
import { traceNameAt } from './span-names.ts';
import type { SpanPlace } from './span-place.ts';

export interface AttemptParts {
  readonly row: JsonObject;
  readonly place: SpanPlace;
  readonly times: RowTimes;
  /** `chat`, `embeddings`, ... */
  readonly operation: string;
  readonly sendsCost: boolean;
}

/** A client span for each upstream call. The calls of a leg link to those that the legs right before it ended with. */
export function attemptSpans(parts: AttemptParts): Span[] {
  const calls = objectsAt(parts.row, 'provider_responses');
  const spans: Span[] = [];
  const ended = new Map<number, Span>();
  calls.forEach((call, index) => {
    const leg = legOf(call);
    const before = leg === 1 ? [] : parts.times.legsBefore(leg).flatMap((number) => ended.get(number) ?? []);
    const span = attemptSpan(parts, call, index, isLastOfLeg(calls, index), before);
    ended.set(leg, span);
    spans.push(span);
  });
  return spans;
}

/** An event for each call that followed a failed one of its leg. */
export function fallbackEvents({ row, times }: Pick<AttemptParts, 'row' | 'times'>): SpanEvent[] {
  const calls = objectsAt(row, 'provider_responses');
  return calls.flatMap((call, index) => {
    const failed = calls[index - 1];
    if (failed === undefined || legOf(failed) !== legOf(call)) return [];
    const said = {
      fallbackFrom: textAt(failed, 'endpoint_id'),
      fallbackTo: textAt(call, 'endpoint_id'),
      status: statusOf(failed),
      leg: legOf(call),
    };
    const timeUnixNano = unixNano(times.failedCall(call).startMs);
    return [{ timeUnixNano, name: 'signalbox.fallback', attributes: attributes(said) }];
  });
}

function attemptSpan(
  { row, place, times, operation, sendsCost }: AttemptParts,
  call: JsonObject,
  index: number,
  isLast: boolean,
  before: readonly Span[],
): Span {
  const number = legOf(call);
  const leg = objectsAt(row, 'legs')[number - 1];
  const status = statusOf(call);
  // Its answer may have failed later, or have been none.
  const hasAnswered = isLast && status !== undefined && status < 400;
  const failure = failureOf(row, leg, call, hasAnswered);
  const { startMs, endMs } = hasAnswered ? times.servingCall(call) : times.failedCall(call);
  const model = textAt(call, 'model_permaslug') ?? '';
  const cooldownMs = numberAt(call, 'cooldown_ms');
  const name = traceNameAt(row, 'generation_name');
  const { traceId, spanId, traceState, parentSpanId, flags } = place.child(
    'attempt',
    index,
    textAt(call, 'span_id'),
    toolSpanOf(row, leg, place),
  );
  const list = attributes({
    operation,
    provider: providerNameOf(textAt(call, 'provider_name') ?? ''),
    requestModel: model,
    endpoint: textAt(call, 'endpoint_id'),
    status,
    responseId: textAt(call, 'id'),
    timeToFirstChunk:
      hasAnswered && row.streamed === true && numberAt(row, 'latency') !== undefined
        ? (numberAt(call, 'latency') ?? 0) / 1_000
        : undefined,
    isByok: booleanAt(call, 'is_byok'),
    serviceTier: textAt(call, 'routed_service_tier'),
    leg: number,
    legKind: textAt(leg, 'kind') ?? 'main',
    errorType: failure?.type,
  });
  if (isLast && leg !== undefined) addAttributes(list, usageOf(leg, sendsCost));
  return {
    traceId,
    spanId,
    traceState,
    parentSpanId,
    flags,
    name: name ?? `${operation} ${model}`,
    kind: SPAN_KINDS.client,
    startTimeUnixNano: unixNano(startMs),
    endTimeUnixNano: unixNano(endMs),
    attributes: list,
    events: cooldownMs === undefined ? undefined : [cooldownEvent(cooldownMs, endMs)],
    links: before.length > 0 ? before.map(({ traceId, spanId }) => ({ traceId, spanId })) : undefined,
    status: failure && { code: STATUS_CODES.error, message: failure.message },
  };
}

/** The span of the tool call that a leg was for; undefined = it was for none, or that is not in the row. */
function toolSpanOf(row: JsonObject, leg: JsonObject | undefined, place: SpanPlace): string | undefined {
  const index = (numberAt(leg, 'tool_call') ?? 0) - 1;
  const call = objectsAt(row, 'tool_calls')[index];
  return call && place.toolCall(call, index);
}

/** The status of an upstream's answer; undefined without one. */
function statusOf(call: JsonObject): number | undefined {
  return call.unanswered === true ? undefined : numberAt(call, 'status');
}

/** Failures of unknown kinds, in the words of the conventions. */
const OTHER_ERROR = '_OTHER';

/** What a row has for a call that ended because the caller left. */
const CALLER_GONE = 499;

/** Why a call served nothing, or not to the end; undefined: it served. */
function failureOf(
  row: JsonObject,
  leg: JsonObject | undefined,
  call: JsonObject,
  hasAnswered: boolean,
): { readonly type: string; readonly message: string } | undefined {
  const status = statusOf(call);
  if (status !== undefined && status >= 400) return { type: String(status), message: `status ${status}` };
  if (call.status === CALLER_GONE) return { type: 'cancelled', message: 'the caller left before an answer' };
  // A single leg is described by the row.
  const hasFailed = leg === undefined ? row.finish_reason === 'error' : stringAt(leg, 'status') === 'failed';
  if (hasAnswered && !hasFailed) return undefined;
  const isLast = call === objectsAt(row, 'provider_responses').at(-1);
  const type = (isLast && leg === undefined && textAt(objectAt(row, 'error'), 'type')) || OTHER_ERROR;
  return { type, message: status === undefined ? 'no answer' : `status ${status}, and no usable answer` };
}

function cooldownEvent(cooldownMs: number, atMs: number): SpanEvent {
  return {
    timeUnixNano: unixNano(atMs),
    name: 'signalbox.cooldown',
    attributes: attributes({ cooldownMs }),
  };
}

/** Not as usage of `gen_ai`: receivers would add it to that of the generation. */
function usageOf(leg: JsonObject, sendsCost: boolean) {
  return {
    legInputTokens: numberAt(leg, 'tokens_prompt'),
    legOutputTokens: numberAt(leg, 'tokens_completion'),
    legCost: sendsCost ? costAt(leg, 'cost_nanos') : undefined,
  };
}

function legOf(call: JsonObject): number {
  return numberAt(call, 'leg') ?? 1;
}

function isLastOfLeg(calls: readonly JsonObject[], index: number): boolean {
  const next = calls[index + 1];
  return next === undefined || legOf(next) !== legOf(calls[index] ?? {});
}
