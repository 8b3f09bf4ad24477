import Type from 'typebox';
import { oneOf } from '../../kit/json/schema.ts';
import { nullable } from '../values/nullable.ts';

/** Shapes of whole answers, for the interface description. The dialects write them. */

const tokens = Type.Integer({ minimum: 0 });
const anyObject = Type.Record(Type.String(), Type.Unknown());
/** An output item or content block; its further members depend on its type. */
const typed = Type.Object({ type: Type.String() }, { additionalProperties: true });
const cost = Type.Optional(nullable(Type.Number({ description: 'USD charged.' })));

/** `server_tool_use_details` of a usage object. */
const toolUse = Type.Optional(
  Type.Object(
    {
      web_search_requests: tokens,
      tool_calls_requested: Type.Optional(tokens),
      tool_calls_executed: Type.Optional(tokens),
    },
    {
      description:
        'Searches of the upstream, of tools and of the web plugin; calls of server tools that the model made, and ' +
        'those of them that ran. Absent if there were none.',
      examples: [{ web_search_requests: 1, tool_calls_requested: 2, tool_calls_executed: 2 }],
    },
  ),
);

export const responsesResultSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response'),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    completed_at: nullable(Type.Integer()),
    status: oneOf(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
    model: Type.String({ description: 'The model that served.' }),
    output: Type.Array(typed, { description: 'Output items in order.' }),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
    incomplete_details: nullable(
      Type.Object({ reason: Type.Optional(oneOf(['max_output_tokens', 'content_filter'])) }),
    ),
    instructions: nullable(Type.Unknown()),
    metadata: nullable(Type.Record(Type.String(), Type.String())),
    parallel_tool_calls: Type.Boolean(),
    temperature: Type.Number(),
    top_p: Type.Number(),
    presence_penalty: Type.Number(),
    frequency_penalty: Type.Number(),
    tool_choice: Type.Unknown(),
    tools: Type.Array(anyObject),
    service_tier: Type.Optional(nullable(Type.String())),
    error_type: Type.Optional(Type.String()),
    usage: Type.Optional(
      Type.Object({
        input_tokens: tokens,
        input_tokens_details: Type.Object({
          cached_tokens: tokens,
          cache_write_tokens: Type.Optional(nullable(tokens)),
        }),
        output_tokens: tokens,
        output_tokens_details: Type.Object({ reasoning_tokens: tokens }),
        total_tokens: tokens,
        cost,
        is_byok: Type.Optional(Type.Boolean()),
        cost_details: Type.Optional(anyObject),
        server_tool_use_details: toolUse,
      }),
    ),
  },
  {
    description:
      'A whole answer. Request settings are echoed; routing metadata is added when the request asked for it.',
  },
);

export const messagesResultSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: Type.String(),
    content: Type.Array(typed, { description: 'Content blocks in order.' }),
    container: nullable(Type.Object({ id: Type.String(), expires_at: Type.String() })),
    stop_reason: nullable(Type.String()),
    stop_sequence: nullable(Type.String()),
    stop_details: nullable(anyObject),
    context_management: Type.Optional(nullable(anyObject)),
    provider: Type.Optional(Type.String()),
    usage: Type.Object({
      input_tokens: tokens,
      output_tokens: tokens,
      cache_creation: nullable(anyObject),
      cache_creation_input_tokens: nullable(tokens),
      cache_read_input_tokens: nullable(tokens),
      inference_geo: nullable(Type.String()),
      output_tokens_details: nullable(anyObject),
      server_tool_use: nullable(
        Type.Object(
          { web_search_requests: tokens, web_fetch_requests: tokens },
          {
            additionalProperties: true,
            description: 'Searches and fetched pages, of tools and plugins; null if there were none.',
            examples: [{ web_search_requests: 1, web_fetch_requests: 0 }],
          },
        ),
      ),
      service_tier: nullable(Type.String()),
      cost,
      is_byok: Type.Optional(Type.Boolean()),
      cost_details: Type.Optional(anyObject),
    }),
  },
  { description: 'A whole message.' },
);

export const chatResultSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Unix seconds.' }),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({
          role: Type.Literal('assistant'),
          content: nullable(Type.String()),
          refusal: Type.Optional(nullable(Type.String())),
          reasoning: Type.Optional(nullable(Type.String())),
          reasoning_details: Type.Optional(Type.Array(anyObject)),
          tool_calls: Type.Optional(Type.Array(anyObject)),
        }),
        finish_reason: nullable(Type.String()),
        logprobs: Type.Optional(nullable(anyObject)),
      }),
    ),
    usage: Type.Optional(
      Type.Object({
        prompt_tokens: tokens,
        completion_tokens: tokens,
        total_tokens: tokens,
        cost,
        server_tool_use_details: toolUse,
      }),
    ),
    service_tier: Type.Optional(nullable(Type.String())),
    system_fingerprint: Type.Optional(nullable(Type.String())),
  },
  { description: 'A whole chat completion.' },
);

export const embeddingsResultSchema = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object({
        object: Type.Literal('embedding'),
        index: Type.Integer({ minimum: 0, description: 'Place of the input.' }),
        embedding: Type.Union([Type.Array(Type.Number()), Type.String()], {
          description: 'Numbers, or with `encoding_format: base64` little-endian 32-bit floats.',
        }),
      }),
      { description: 'One vector for each input, in their order.' },
    ),
    model: Type.String({ description: 'The model that served.' }),
    id: Type.String({ description: 'Id of the generation.' }),
    provider: Type.String(),
    usage: Type.Object({
      prompt_tokens: tokens,
      total_tokens: tokens,
      cost,
      is_byok: Type.Boolean(),
      cost_details: anyObject,
    }),
  },
  { description: 'Vectors; routing metadata is added when the request asked for it.' },
);

const usageOfWholeSchema = Type.Object({
  input_tokens: tokens,
  input_tokens_details: anyObject,
  output_tokens: tokens,
  output_tokens_details: anyObject,
  total_tokens: tokens,
  cost,
  is_byok: Type.Boolean(),
  cost_details: anyObject,
});

const probability = Type.Number({ minimum: 0, maximum: 1 });

/** Reply of `POST /decisions` and `POST /systemone`. */
export const decisionsResultSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the generation.' }),
    answers: Type.Unsafe<object>({
      description:
        'System One: answers by the names of their questions, of type `noul`, `choice` or `score`. OpenAI: a list in ' +
        'the order of the questions, of type `predicate`, `choice`, `score` or `refusal`.',
      anyOf: [
        Type.Record(
          Type.String(),
          Type.Object({
            type: Type.String(),
            noul: Type.Optional(probability),
            choice: Type.Optional(Type.String()),
            score: Type.Optional(Type.Number()),
            confidence: Type.Optional(probability),
            probabilities: Type.Optional(Type.Record(Type.String(), probability)),
            legend: Type.Optional(anyObject),
          }),
        ),
        Type.Array(
          Type.Object({
            type: Type.String(),
            name: Type.Union([Type.String(), Type.Null()]),
            probability: Type.Optional(probability),
            choice: Type.Optional(Type.Union([Type.String(), Type.Boolean()])),
            score: Type.Optional(Type.Number()),
            confidence: Type.Optional(probability),
            probabilities: Type.Optional(Type.Array(anyObject)),
          }),
        ),
      ],
    }),
    model: Type.String({ description: 'The model that served.' }),
    provider: Type.String(),
    usage: usageOfWholeSchema,
  },
  { description: 'Answers to questions; routing metadata is added when the request asked for it.' },
);

/** Reply of `POST /messages/count_tokens`. */
export const tokenCountSchema = Type.Object({ input_tokens: tokens });

/** Reply of `POST /responses/compact`. */
export const compactionResultSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response.compaction'),
    created_at: Type.Integer(),
    output: Type.Array(anyObject, {
      description: 'The input of the next request: all messages of the user, then one `compaction` item.',
    }),
    usage: usageOfWholeSchema,
  },
  { description: 'A compacted conversation; routing metadata is added when the request asked for it.' },
);

/** Reply of `POST /responses/input_tokens`. */
export const inputTokensSchema = Type.Object({
  object: Type.Literal('response.input_tokens'),
  input_tokens: tokens,
});
