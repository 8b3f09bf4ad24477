import Type, { type TSchema } from 'typebox';
import type { JsonObject } from '../../kit/json/json.ts';
import { nullish, openOneOf, openUnion } from '../../kit/json/schema.ts';
import { EFFORTS, reasoningSchema } from '../shared/reasoning/reasoning-schema.ts';
import {
  gatewayFieldSchemas,
  imageConfigSchema,
  MAX_MODALITIES,
  MAX_REQUESTED_TOKENS,
  MAX_TOOLS,
  promptCacheOptionsSchema,
  SHARED_GATEWAY_FIELDS,
} from '../shared/requests/gateway-fields.ts';
import { MAX_REQUEST_PIECES } from '../shared/requests/request-pieces.ts';
import { contentSchema, messageSchema, type REASONING_DETAIL_TYPES } from './wire-content.ts';
import { toolChoiceSchema, toolSchema } from './wire-tools.ts';

/** The chat format on the wire: the schema of a request and the shapes of an answer. */

// --- Settings -------------------------------------------------------------------------------------------------------

const responseFormatSchema = openUnion('type', [
  Type.Object({ type: Type.Literal('text') }),
  Type.Object({ type: Type.Literal('json_object') }),
  Type.Object({
    type: Type.Literal('json_schema'),
    json_schema: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 64 }),
      description: nullish(Type.String()),
      schema: nullish(Type.Object({})),
      strict: nullish(Type.Boolean()),
    }),
  }),
  Type.Object({ type: Type.Literal('grammar'), grammar: Type.String({ minLength: 1 }) }),
  Type.Object({ type: Type.Literal('python') }),
]);

const metadataSchema = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 16,
  propertyNames: { type: 'string', maxLength: 64, pattern: '^[^\\[\\]]*$' },
  additionalProperties: { type: 'string', maxLength: 512 },
});

const logitBiasSchema = Type.Unsafe<Record<string, number>>({
  type: 'object',
  additionalProperties: { type: 'number', minimum: -100, maximum: 100 },
});

/** Output modalities that the format documents. */
export const CHAT_MODALITIES = ['text', 'image', 'audio'] as const;

// --- The request ----------------------------------------------------------------------------------------------------

export function requestSchema(vendor: string): TSchema {
  return Type.Object(fieldSchemas(vendor));
}

function fieldSchemas(vendor: string) {
  return {
    messages: Type.Array(messageSchema, { minItems: 1, maxItems: MAX_REQUEST_PIECES }),
    tools: nullish(
      Type.Array(toolSchema, {
        maxItems: MAX_TOOLS,
        description: `Functions, free-text tools, hosted tools, and ${vendor}:* tools that this gateway offers.`,
      }),
    ),
    ...gatewayFieldSchemas,
    model: nullish(Type.String({ minLength: 1 })),
    temperature: nullish(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: nullish(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: nullish(Type.Integer({ minimum: 0 })),
    top_a: nullish(Type.Number({ minimum: 0, maximum: 1 })),
    min_p: nullish(Type.Number({ minimum: 0, maximum: 1 })),
    frequency_penalty: nullish(Type.Number({ minimum: -2, maximum: 2 })),
    presence_penalty: nullish(Type.Number({ minimum: -2, maximum: 2 })),
    repetition_penalty: nullish(Type.Number({ minimum: 0, maximum: 2 })),
    seed: nullish(Type.Integer()),
    stop: nullish(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })])),
    max_tokens: nullish(Type.Integer({ minimum: 1, maximum: MAX_REQUESTED_TOKENS })),
    max_completion_tokens: nullish(Type.Integer({ minimum: 1, maximum: MAX_REQUESTED_TOKENS })),
    logit_bias: nullish(logitBiasSchema),
    logprobs: nullish(Type.Boolean()),
    top_logprobs: nullish(Type.Integer({ minimum: 0, maximum: 20 })),
    n: nullish(Type.Integer({ minimum: 1 })),
    response_format: nullish(responseFormatSchema),
    tool_choice: toolChoiceSchema,
    parallel_tool_calls: nullish(Type.Boolean()),
    max_tool_calls: nullish(Type.Integer({ minimum: 0 })),
    stream: nullish(Type.Boolean({ default: false })),
    stream_options: nullish(
      Type.Object({ include_usage: nullish(Type.Boolean()), include_obfuscation: nullish(Type.Boolean()) }),
    ),
    usage: nullish(Type.Object({ include: nullish(Type.Boolean()) })),
    store: nullish(Type.Boolean()),
    reasoning: nullish(reasoningSchema),
    reasoning_effort: nullish(openOneOf(EFFORTS)),
    include_reasoning: nullish(Type.Boolean()),
    verbosity: nullish(openOneOf(['low', 'medium', 'high', 'xhigh', 'max'])),
    modalities: nullish(Type.Array(openOneOf(CHAT_MODALITIES), { maxItems: MAX_MODALITIES })),
    audio: nullish(Type.Object({})),
    image_config: nullish(imageConfigSchema),
    prediction: nullish(
      openUnion('type', [Type.Object({ type: Type.Literal('content'), content: contentSchema })]),
    ),
    web_search_options: nullish(
      Type.Object({
        search_context_size: nullish(openOneOf(['low', 'medium', 'high'])),
        user_location: nullish(Type.Object({})),
      }),
    ),
    metadata: nullish(metadataSchema),
    safety_identifier: nullish(Type.String()),
    prompt_cache_key: nullish(Type.String()),
    prompt_cache_options: nullish(promptCacheOptionsSchema),
    service_tier: nullish(openOneOf(['auto', 'default', 'fast', 'flex', 'priority', 'scale', 'ultrafast'])),
    debug: nullish(Type.Object({ echo_upstream_body: nullish(Type.Boolean()) })),
  };
}

// --- Kinds of fields ------------------------------------------------------------------------------------------------

export const DOCUMENTED_FIELDS: ReadonlySet<string> = new Set(Object.keys(fieldSchemas('vendor')));

/** Fields that hold the output limit, the one that more upstreams know first. */
export const LIMIT_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;

/** Fields for the gateway, which never go upstream. */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  ...SHARED_GATEWAY_FIELDS,
  'usage',
  'include_reasoning',
  'max_tool_calls',
  'store',
]);

/** Documented fields that the representation does not model: sent unchanged to upstreams of this dialect. */
export const UNMODELLED_FIELDS: readonly string[] = ['prediction', 'web_search_options', 'audio'];

// --- Answers --------------------------------------------------------------------------------------------------------

/** One entry of `reasoning_details`. Entries with one `index` are one part; entries with one `id` are one item. */
export interface ReasoningDetail extends JsonObject {
  readonly type: (typeof REASONING_DETAIL_TYPES)[number];
  readonly index?: number;
  readonly id?: string;
  readonly format?: string;
}

/** The end marker of a stream. */
export const DONE = '[DONE]';
