import Type, { type Static, type TSchema } from 'typebox';
import { GenerationIds, traceIdOfGeneration } from '../../ir/trace.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { textAt } from '../../kit/json/members.ts';
import { type Nanos, usdOf } from '../../kit/money.ts';
import { traceUrl } from '../../kit/net/trace-url.ts';
import { type WriteOffCause, writeOffsIn } from '../../ports/money/write-offs.ts';
import { isoTime } from '../values/iso-time.ts';
import { nullable } from '../values/nullable.ts';

export const generationQuerySchema = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 256, description: 'The id of the generation, `gen-...`.' }),
});

export type GenerationQuery = Static<typeof generationQuerySchema>;

const text = nullable(Type.String());
const whole = nullable(Type.Integer());
const money = Type.Number({ description: 'USD.' });
const milliseconds = (description: string) => nullable(Type.Integer(), { description });

/** Members from the row of a generation; null if it has none. */
const ROW_MEMBERS = {
  api_type: Type.String({
    description:
      'What was asked for: `completions`, `embeddings` or `decisions`; `classification` by a classifier.',
  }),
  format: nullable(Type.String(), {
    description:
      'Format of the request: `responses`, `messages`, `chat` or `embeddings`; null in old records.',
  }),
  error: nullable(
    Type.Object({ status: Type.Integer(), type: Type.String(), message: Type.Optional(Type.String()) }),
    {
      description:
        'What the caller got for a failure; null without one, and in old records. `message`: for a refused request.',
    },
  ),
  refused_requests: nullable(Type.Integer(), {
    description:
      'Null for a generation. Otherwise the request was refused before any upstream was called, and the record stands ' +
      'for so many refused requests of the key for the same reason: in a flood of them only samples are kept.',
  }),
  model: Type.String(),
  provider_name: text,
  created_at: Type.String({ format: 'date-time' }),
  app_id: whole,
  origin: Type.String({ description: 'Of the referer; empty where there was none.' }),
  http_referer: text,
  user_agent: text,
  external_user: nullable(Type.String(), { description: 'The end user, as the request named them.' }),
  session_id: text,
  request_id: nullable(Type.String(), { description: 'Your `x-request-id`, else the id.' }),
  preset_id: text,
  trace: nullable(Type.Object({}, { additionalProperties: true }), {
    description: 'The `trace` of the request, as it came.',
  }),
  router: nullable(Type.String(), { description: 'The router that chose the model.' }),
  streamed: Type.Boolean(),
  cancelled: Type.Boolean({ description: 'The caller went away before the end.' }),
  finish_reason: nullable(Type.String(), {
    description: '`error` after a failure, null where the caller went away.',
  }),
  native_finish_reason: text,
  latency: milliseconds('To the first content, milliseconds.'),
  generation_time: milliseconds('From the call that served to its end, milliseconds.'),
  moderation_latency: milliseconds('Milliseconds.'),
  tokens_prompt: whole,
  tokens_completion: whole,
  native_tokens_prompt: whole,
  native_tokens_completion: whole,
  native_tokens_reasoning: whole,
  native_tokens_cached: whole,
  native_tokens_completion_images: whole,
  num_media_prompt: whole,
  num_media_completion: whole,
  num_input_audio_prompt: whole,
  num_search_results: whole,
  num_fetches: whole,
  web_search_engine: text,
  is_byok: Type.Boolean(),
  service_tier: text,
  data_region: Type.String({ description: '`global`.' }),
  upstream_id: text,
  response_cache_source_id: text,
  provider_responses: nullable(Type.Array(Type.Object({}, { additionalProperties: true })), {
    description:
      'Every upstream call, in order. `unanswered`: there was no answer, and `status` is what the caller got for ' +
      'that; `provider_message`: the first 200 characters of what the provider said of a fault of its own, without ' +
      'secrets; `latency`: milliseconds to the first content or to the failure; ' +
      '`started_ms`: milliseconds after the first call began, absent = 0; `leg`: number of the model call, absent = 1.',
  }),
  hosted_tools: nullable(Type.Record(Type.String(), Type.Number()), {
    description:
      'What upstreams did with tools that they run, in units by the name of the price; null without such use.',
  }),
  unpriced: nullable(Type.Record(Type.String(), Type.Number()), {
    description:
      'Of that, what the endpoint had no price for, and types of tools of which it is not known what the upstream ' +
      'bills (as 1): charged to no account. Null without such use.',
  }),
  usage_source: Type.String({
    description: '`measured`: the upstream said so; `estimated`: we counted; `none`: nothing is known.',
  }),
  routing: nullable(Type.Object({}, { additionalProperties: true }), {
    description: 'The routing metadata of its time; long lists are cut.',
  }),
} satisfies Record<string, TSchema>;

export const generationSchema = Type.Object({
  id: Type.String(),
  workspace_id: nullable(Type.String()),
  key_hash: Type.String({ description: 'SHA-256 of the key, hex.' }),
  ended_at: Type.String({ format: 'date-time', description: 'When it was settled.' }),
  usage: money,
  total_cost: money,
  upstream_inference_cost: nullable(Type.Number(), {
    description: 'List price in USD of what your BYOK credential served; null otherwise.',
  }),
  cache_discount: nullable(Type.Number(), {
    description: 'What caching saved, USD; negative where it cost more. Null without caching.',
  }),
  written_off: Type.Number({
    description: 'Used beyond every limit, or disputed, and charged to no account, USD.',
  }),
  written_off_cause: nullable(Type.String(), {
    description:
      'The cause of the largest part of it. What went beyond the reservation: `prompt`, `output`, `searches`, ' +
      '`tools` (others that the upstream ran) or `price`; `released`: the reservation was released before the ' +
      'end; `disputed`: the upstream reported more than can be true; `abandoned`: the caller left before the ' +
      'upstream reported its use; `dropped`: a refused or empty answer, after which the next endpoint was asked; ' +
      '`time_limit`: an upstream call passed a time limit; `cut`: the gateway ended a call that a tool had made. ' +
      'Null if nothing was written off.',
  }),
  write_offs: Type.Array(Type.Object({ cause: Type.String(), cost: Type.Number() }), {
    description: 'The parts of `written_off`, USD, each cause once.',
  }),
  reserved: nullable(Type.Number(), {
    description: 'Held for it until its end, USD; null in old records, and where nothing was.',
  }),
  prices: Type.Array(
    Type.Object({
      name: Type.String({ description: 'Such as `prompt` or `completion`.' }),
      price: Type.String({ description: 'Exact decimal, USD per token or other unit.' }),
      min_prompt_tokens: Type.Integer({ description: 'Prompts of at least so many tokens; 0 = all.' }),
    }),
    {
      description:
        'List prices of the endpoint that served, as they were when the request came in; none if they are unknown.',
    },
  ),
  legs: Type.Array(
    Type.Object({
      kind: Type.String({
        description:
          '`main`: the answer itself; `advisor`, `subagent`, `panel` or `judge`: what it was helped by.',
      }),
      tool_call: Type.Optional(
        Type.Integer({ description: 'Number of the call of `tool_calls` that it was for; absent = none.' }),
      ),
      model: text,
      provider_name: text,
      started_at: nullable(Type.String(), { description: 'ISO 8601; null in records of earlier releases.' }),
      duration_ms: nullable(Type.Integer(), {
        description: 'Null if the call was open when the process ended.',
      }),
      tokens_prompt: whole,
      tokens_completion: whole,
      cost: money,
      status: Type.String({ description: '`completed`, `failed` or `cancelled`.' }),
    }),
    {
      description:
        'Calls of models, failed ones included; none where no model was called: the answer was kept, or ' +
        'the request refused.',
    },
  ),
  tool_calls: Type.Array(
    Type.Object({
      name: text,
      leg: whole,
      started_at: text,
      duration_ms: whole,
      outcome: Type.String({
        description:
          '`ok`, `error`, `timeout` or `cancelled`; `interrupted`: it ran when the generation was recorded.',
      }),
      cost: money,
      input_characters: whole,
      output_characters: whole,
      error: nullable(Type.String()),
    }),
    {
      description:
        'Calls of tools that the gateway ran, in order. `leg`: number of the model call that asked for it, from 1. ' +
        '`name`: of a tool of an MCP server, `<label>__<tool>`.',
    },
  ),
  trace_id: Type.String({
    description:
      'The trace that its spans are in, 32 hexadecimal digits: the one that the request named, else its own.',
  }),
  trace_url: nullable(Type.String(), {
    description: 'Where to look at the trace; null unless the operator sets `observability.trace_url`.',
  }),
  charges: Type.Array(Type.Object({ kind: Type.String(), cost: money }), {
    description: 'What was paid for besides model calls, such as `web_search`; part of the cost.',
  }),
  ...ROW_MEMBERS,
});

export type GenerationRecord = Static<typeof generationSchema>;

export const generationReplySchema = Type.Object({ data: generationSchema });

export const generationContentReplySchema = Type.Object({
  data: Type.Object({
    input: Type.Object({}, { additionalProperties: true, description: '`{messages}` or `{prompt}`.' }),
    output: Type.Object(
      { completion: text, reasoning: text },
      { additionalProperties: true, description: 'Also `tool_calls`, where there were some.' },
    ),
    error: nullable(Type.Object({}, { additionalProperties: true })),
    tools: Type.Optional(Type.Array(Type.String(), { description: 'Names of the tools that were offered.' })),
  }),
});

export interface ShownGeneration {
  readonly id: string;
  readonly scopes: { readonly workspace: string; readonly key: string };
  readonly settledAtMs: number;
  readonly charge: { readonly creditNanos: Nanos; readonly byokNanos: Nanos };
  readonly writtenOffNanos: Nanos;
  readonly writtenOffCause: WriteOffCause | null;
  readonly row: JsonObject;
}

export type RecordedPrice = GenerationRecord['prices'][number];

/** What a record shows besides what is stored with the generation. */
export interface RecordAdditions {
  readonly prices?: readonly RecordedPrice[];
  /** Address of traces, with placeholders; undefined = there is none. */
  readonly traceUrl?: string | undefined;
}

export function generationObject(
  generation: ShownGeneration,
  { prices = [], traceUrl: template }: RecordAdditions = {},
): JsonObject {
  const { id, scopes, settledAtMs, charge, row } = generation;
  const cost = usdOf(charge.creditNanos);
  const discount = nanosAt(row, 'cache_discount_nanos');
  const traceId = traceIdOfGeneration(id, row);
  return {
    id,
    workspace_id: scopes.workspace,
    key_hash: scopes.key,
    ended_at: isoTime(settledAtMs),
    usage: cost,
    total_cost: cost,
    upstream_inference_cost: row.is_byok === true ? usdOf(charge.byokNanos) : null,
    cache_discount: discount === 0n ? null : usdOf(discount),
    written_off: usdOf(generation.writtenOffNanos),
    written_off_cause: generation.writtenOffCause,
    write_offs: writeOffsIn(generation).map(({ cause, nanos }) => ({ cause, cost: usdOf(nanos) })),
    reserved: textAt(row, 'reserved_nanos') === undefined ? null : usdOf(nanosAt(row, 'reserved_nanos')),
    prices: [...prices],
    legs: legsOf(row, cost, settledAtMs),
    tool_calls: toolCallsOf(row),
    trace_id: traceId,
    trace_url: template === undefined ? null : traceUrlOf(template, id, traceId),
    charges: chargesOf(row),
    ...Object.fromEntries(Object.keys(ROW_MEMBERS).map((name) => [name, row[name] ?? null])),
    // Clients expect text here.
    origin: row.origin ?? '',
  };
}

/** Nearly always one, which the row itself describes. An answer from the cache has none. */
function legsOf(row: JsonObject, cost: number, settledAtMs: number): JsonObject[] {
  if (Array.isArray(row.legs)) return row.legs.filter(isJsonObject).map(legObject);
  if (typeof row.response_cache_source_id === 'string' || typeof row.refused_requests === 'number') return [];
  return [
    {
      kind: 'main',
      model: row.model ?? null,
      provider_name: row.provider_name ?? null,
      started_at: row.created_at ?? null,
      duration_ms: durationOf(row, settledAtMs),
      tokens_prompt: row.tokens_prompt ?? null,
      tokens_completion: row.tokens_completion ?? null,
      cost,
      status: row.cancelled === true ? 'cancelled' : row.finish_reason === 'error' ? 'failed' : 'completed',
    },
  ];
}

/**
 * Milliseconds from the arrival of a request to the end of its answer. The time to the first content and that of the
 * serving call overlap, so their sum is only a bound: for a generation that was settled long after it broke off.
 */
function durationOf(
  { created_at: created, latency, generation_time: generating }: JsonObject,
  settledAtMs: number,
): number | null {
  if (typeof latency !== 'number') return null;
  const most = latency + (typeof generating === 'number' ? generating : 0);
  const took = typeof created === 'string' ? settledAtMs - Date.parse(created) : most;
  return Math.max(latency, Math.min(took, most));
}

function legObject(leg: JsonObject): JsonObject {
  const { cost_nanos: _, status, started_at = null, duration_ms = null, ...rest } = leg;
  return {
    ...rest,
    started_at,
    duration_ms,
    cost: usdOf(nanosAt(leg, 'cost_nanos')),
    status: status ?? null,
  };
}

function toolCallsOf({ tool_calls: calls }: JsonObject): JsonObject[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter(isJsonObject).map((call) => {
    const { cost_nanos: _, error, ...rest } = call;
    return { ...rest, cost: usdOf(nanosAt(call, 'cost_nanos')), error: error ?? null };
  });
}

function chargesOf({ charges }: JsonObject): JsonObject[] {
  if (!Array.isArray(charges)) return [];
  return charges
    .filter(isJsonObject)
    .map((charge) => ({ kind: charge.kind ?? null, cost: usdOf(nanosAt(charge, 'nanos')) }));
}

function nanosAt(row: JsonObject, name: string): Nanos {
  const digits = textAt(row, name) ?? '';
  return /^-?\d+$/.test(digits) ? BigInt(digits) : 0n;
}

function traceUrlOf(template: string, id: string, traceId: string): string {
  return traceUrl(template, { trace_id: traceId, span_id: new GenerationIds(id).root, generation_id: id });
}
