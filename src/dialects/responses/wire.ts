import Type from 'typebox';
import type { Tool } from '../../ir/request.ts';
import type { Effort } from '../../ir/settings.ts';
import { oneOf, optional, taggedUnion } from '../../kit/json/schema.ts';
import { ADDITIONAL_TOOL_MARK } from '../shared/report/foreign-members.ts';
import {
  gatewayFieldSchemas,
  imageConfigSchema,
  MOST_ENTRIES,
  MOST_MODALITIES,
  MOST_TOKENS,
  MOST_TOOLS,
  promptCacheOptionsSchema,
  SHARED_GATEWAY_FIELDS,
} from '../shared/requests/gateway-fields.ts';
import { MAX_REQUEST_PIECES } from '../shared/requests/request-pieces.ts';
import { inputItemSchema, inputPartSchema } from './wire-content.ts';
import { toolChoiceSchema, toolSchema } from './wire-tools.ts';

/** What a caller may ask to have included in the answer. */
const INCLUDES = [
  'file_search_call.results',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'reasoning.encrypted_content',
  'code_interpreter_call.outputs',
  'web_search_call.action.sources',
  'web_search_call.results',
  'message.output_text.logprobs',
] as const;

/** `include` value by which this format asks for log probabilities. */
export const INCLUDE_LOGPROBS = 'message.output_text.logprobs';
/** `include` value by which this format asks for sealed reasoning. */
export const INCLUDE_SEALS = 'reasoning.encrypted_content';

export const EFFORTS = [
  'max',
  'xhigh',
  'high',
  'medium',
  'low',
  'minimal',
  'none',
] as const satisfies Effort[];

/** Members of `reasoning` that are documented. */
export const REASONING_FIELDS: ReadonlySet<string> = new Set([
  'effort',
  'summary',
  'max_tokens',
  'enabled',
  'context',
  'mode',
  'exclude',
]);

/** Members of `text` that are documented. */
export const TEXT_FIELDS: ReadonlySet<string> = new Set(['format', 'verbosity']);

const reasoningSchema = Type.Object({
  effort: optional(oneOf(EFFORTS)),
  summary: optional(oneOf(['auto', 'concise', 'detailed'])),
  max_tokens: optional(Type.Integer({ minimum: 1, maximum: MOST_TOKENS })),
  enabled: optional(Type.Boolean()),
  context: optional(oneOf(['auto', 'all_turns', 'current_turn'])),
  mode: optional(oneOf(['standard', 'pro'])),
  exclude: optional(Type.Boolean()),
});

const textSchema = Type.Object({
  format: optional(
    taggedUnion('type', [
      Type.Object({ type: Type.Literal('text') }),
      Type.Object({ type: Type.Literal('json_object') }),
      Type.Object({
        type: Type.Literal('json_schema'),
        name: Type.String({ minLength: 1 }),
        schema: Type.Object({}),
        description: optional(Type.String()),
        strict: optional(Type.Boolean()),
      }),
    ]),
  ),
  verbosity: optional(oneOf(['low', 'medium', 'high', 'xhigh', 'max'])),
});

/** The count stands first and alone, so that a million keys are refused before any of them is looked at. */
const metadataSchema = Type.Unsafe<Record<string, string>>({
  allOf: [
    { type: 'object', maxProperties: 16 },
    {
      type: 'object',
      propertyNames: { type: 'string', maxLength: 64, pattern: '^[^\\[\\]]*$' },
      additionalProperties: { type: 'string', maxLength: 512 },
    },
  ],
});

const promptSchema = Type.Object({
  id: Type.String({ minLength: 1 }),
  variables: optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: Type.Union([Type.String(), inputPartSchema]),
    }),
  ),
});

/** Schema of a request body. */
export function requestSchema(vendor: string) {
  return Type.Object(fieldSchemas(vendor), { description: 'A generation request in the responses format.' });
}

function fieldSchemas(vendor: string) {
  return {
    ...gatewayFieldSchemas,
    model: optional(Type.String()),
    input: Type.Optional(
      Type.Union([Type.String(), Type.Array(inputItemSchema, { maxItems: MAX_REQUEST_PIECES }), Type.Null()]),
    ),
    instructions: optional(Type.String()),
    stream: optional(Type.Boolean({ default: false })),
    store: Type.Optional(
      Type.Union([Type.Literal(false), Type.Null()], {
        explain: 'must be false: nothing is stored here',
      }),
    ),
    background: optional(Type.Boolean()),
    previous_response_id: optional(Type.String()),
    prompt: optional(promptSchema),
    include: optional(Type.Array(oneOf(INCLUDES), { maxItems: MOST_ENTRIES })),
    max_output_tokens: optional(Type.Integer({ minimum: 1, maximum: MOST_TOKENS })),
    max_tool_calls: optional(Type.Integer({ minimum: 0, maximum: MOST_TOKENS })),
    temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: optional(Type.Integer({ minimum: 0, maximum: MOST_TOKENS })),
    frequency_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
    presence_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
    top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
    reasoning: optional(reasoningSchema),
    text: optional(textSchema),
    tools: optional(Type.Array(toolSchema(vendor), { maxItems: MOST_TOOLS })),
    tool_choice: toolChoiceSchema,
    parallel_tool_calls: optional(Type.Boolean()),
    modalities: optional(Type.Array(oneOf(['text', 'image']), { maxItems: MOST_MODALITIES })),
    image_config: optional(imageConfigSchema),
    prompt_cache_key: optional(Type.String()),
    prompt_cache_options: optional(promptCacheOptionsSchema),
    prompt_cache_retention: optional(Type.String()),
    safety_identifier: optional(Type.String()),
    service_tier: optional(oneOf(['auto', 'default', 'flex', 'priority', 'scale', 'fast'])),
    truncation: optional(oneOf(['auto', 'disabled'])),
    metadata: optional(metadataSchema),
    debug: optional(Type.Object({ echo_upstream_body: optional(Type.Boolean()) })),
    stream_options: optional(Type.Object({})),
  };
}

/** Top-level fields that the format documents; everything else is unknown. */
export const DOCUMENTED_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(fieldSchemas('vendor')),
  'conversation',
]);

/** Documented fields that the gateway does not model: they go to upstreams of this dialect as they are. */
export const UNMODELLED_FIELDS: readonly string[] = ['stream_options', 'prompt_cache_retention'];

/** Fields that speak to the gateway and never go upstream. */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  ...SHARED_GATEWAY_FIELDS,
  'prompt',
  'background',
  'previous_response_id',
  'conversation',
]);

/** What the ids of items begin with, by kind of item. */
export const ID_PREFIXES = {
  message: 'msg_',
  reasoning: 'rs_',
  function: 'fc_',
  custom: 'ctc_',
  image: 'ig_',
  opaque: 'item_',
} as const;

/** The format of sealed reasoning whose maker this dialect does not name. */
export const OWN_REASONING_FORMAT = 'openai-responses-v1';

/** True for a tool that an `additional_tools` item declares. */
export function isInItem(tool: Tool): boolean {
  return tool.type !== 'hosted' && tool.ext?.responses?.[ADDITIONAL_TOOL_MARK] === true;
}
