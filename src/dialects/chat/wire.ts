import Type, { type TSchema } from 'typebox';
import type { JsonObject } from '../../kit/json/json.ts';
import { nullish, oneOf, otherThan, taggedUnion } from '../../kit/json/schema.ts';
import { FILE_ID_DESCRIPTION } from '../shared/media/stored-files.ts';
import {
  cacheControlSchema,
  gatewayFieldSchemas,
  imageConfigSchema,
  MAX_MODALITIES,
  MAX_REQUESTED_TOKENS,
  MAX_TOOLS,
  promptCacheOptionsSchema,
  SHARED_GATEWAY_FIELDS,
} from '../shared/requests/gateway-fields.ts';
import { MAX_REQUEST_PIECES } from '../shared/requests/request-pieces.ts';

/** The chat format on the wire: schemas of a request and the shapes of an answer. */

// --- Content parts ---------------------------------------------------------------------------------------------------

const cacheControl = { cache_control: nullish(cacheControlSchema) };

const textPart = Type.Object({ type: Type.Literal('text'), text: Type.String(), ...cacheControl });
const refusalPart = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() });
const imagePart = Type.Object({
  type: Type.Literal('image_url'),
  image_url: Type.Object({
    url: Type.String({ minLength: 1 }),
    detail: nullish(oneOf(['auto', 'low', 'high', 'original'])),
  }),
  ...cacheControl,
});
const audioPart = Type.Object({
  type: Type.Literal('input_audio'),
  input_audio: Type.Object({ data: Type.String({ minLength: 1 }), format: Type.String({ minLength: 1 }) }),
});
const filePart = Type.Object({
  type: Type.Literal('file'),
  file: Type.Object({
    filename: nullish(Type.String()),
    file_data: nullish(Type.String({ minLength: 1 })),
    file_id: nullish(Type.String({ minLength: 1, description: FILE_ID_DESCRIPTION })),
  }),
  ...cacheControl,
});
const videoPart = Type.Object({
  type: Type.Literal('video_url'),
  video_url: Type.Object({ url: Type.String({ minLength: 1 }) }),
});

/** Types of content parts that the gateway parses; others stay opaque. */
const PART_TYPES = ['text', 'refusal', 'image_url', 'input_audio', 'file', 'video_url'] as const;

/** True for types of content parts that the format documents. */
export function isKnownPartType(type: string): boolean {
  return (PART_TYPES as readonly string[]).includes(type);
}

const contentPart = taggedUnion('type', [
  textPart,
  refusalPart,
  imagePart,
  audioPart,
  filePart,
  videoPart,
  otherThan('type', PART_TYPES),
]);

const content = Type.Union([Type.String(), Type.Array(contentPart)]);
const instructionContent = Type.Union([Type.String(), Type.Array(taggedUnion('type', [textPart]))]);

// --- Messages --------------------------------------------------------------------------------------------------------

const REASONING_DETAIL_TYPES = ['reasoning.text', 'reasoning.summary', 'reasoning.encrypted'] as const;

const detailFields = {
  id: nullish(Type.String()),
  format: nullish(Type.String()),
  index: nullish(Type.Integer({ minimum: 0 })),
};

const reasoningDetail = taggedUnion('type', [
  Type.Object({
    type: Type.Literal('reasoning.text'),
    text: nullish(Type.String()),
    signature: nullish(Type.String()),
    ...detailFields,
  }),
  Type.Object({ type: Type.Literal('reasoning.summary'), summary: Type.String(), ...detailFields }),
  Type.Object({ type: Type.Literal('reasoning.encrypted'), data: Type.String(), ...detailFields }),
  otherThan('type', REASONING_DETAIL_TYPES),
]);

const functionCall = Type.Object({ name: Type.String({ minLength: 1 }), arguments: Type.String() });

const toolCall = taggedUnion('type', [
  Type.Object({
    id: Type.String({ minLength: 1 }),
    type: Type.Optional(Type.Literal('function')),
    function: functionCall,
  }),
  Type.Object({
    id: Type.String({ minLength: 1 }),
    type: Type.Literal('custom'),
    custom: Type.Object({ name: Type.String({ minLength: 1 }), input: Type.String() }),
  }),
]);

const name = { name: nullish(Type.String()) };

const message = taggedUnion('role', [
  Type.Object({ role: Type.Literal('system'), content: instructionContent, ...name }),
  Type.Object({ role: Type.Literal('developer'), content: instructionContent, ...name }),
  Type.Object({ role: Type.Literal('user'), content, ...name }),
  Type.Object({
    role: Type.Literal('assistant'),
    content: nullish(content),
    refusal: nullish(Type.String()),
    reasoning: nullish(Type.String()),
    reasoning_content: nullish(Type.String()),
    reasoning_details: nullish(Type.Array(reasoningDetail)),
    tool_calls: nullish(Type.Array(toolCall)),
    function_call: nullish(functionCall),
    images: nullish(Type.Array(imagePart)),
    audio: nullish(Type.Object({})),
    annotations: nullish(Type.Array(Type.Object({}))),
    ...name,
  }),
  Type.Object({
    role: Type.Literal('tool'),
    tool_call_id: Type.String({ minLength: 1 }),
    content: nullish(content),
    ...name,
  }),
  Type.Object({
    role: Type.Literal('function'),
    name: Type.String({ minLength: 1 }),
    content: nullish(Type.String()),
  }),
]);

// --- Tools -----------------------------------------------------------------------------------------------------------

const functionTool = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({
    name: Type.String({ minLength: 1 }),
    description: nullish(Type.String()),
    parameters: nullish(Type.Object({})),
    strict: nullish(Type.Boolean()),
  }),
  ...cacheControl,
});

const customTool = Type.Object({
  type: Type.Literal('custom'),
  custom: Type.Object({
    name: Type.String({ minLength: 1 }),
    description: nullish(Type.String()),
    format: nullish(Type.Object({ type: Type.String({ minLength: 1 }) })),
  }),
});

const hostedTool = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', minLength: 1, not: { enum: ['function', 'custom'] } },
    parameters: { anyOf: [{ type: 'object' }, { type: 'null' }] },
  },
});

const namedFunction = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String({ minLength: 1 }) }),
});
const namedCustom = Type.Object({
  type: Type.Literal('custom'),
  custom: Type.Object({ name: Type.String({ minLength: 1 }) }),
});

const toolChoice = Type.Optional(
  taggedUnion('type', [
    oneOf(['auto', 'none', 'required'], { type: 'string' }),
    namedFunction,
    namedCustom,
    Type.Object({
      type: Type.Literal('allowed_tools'),
      allowed_tools: Type.Object({
        mode: oneOf(['auto', 'required']),
        tools: Type.Array(
          taggedUnion('type', [namedFunction, namedCustom, otherThan('type', ['function', 'custom'])]),
          { maxItems: MAX_TOOLS },
        ),
      }),
    }),
    otherThan('type', ['function', 'custom', 'allowed_tools']),
    Type.Null(),
  ]),
);

// --- Settings --------------------------------------------------------------------------------------------------------

const responseFormat = taggedUnion('type', [
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

const EFFORTS = ['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'] as const;

const reasoning = Type.Object({
  effort: nullish(oneOf(EFFORTS)),
  summary: nullish(oneOf(['auto', 'concise', 'detailed'])),
  max_tokens: nullish(Type.Integer({ minimum: 1, maximum: MAX_REQUESTED_TOKENS })),
  enabled: nullish(Type.Boolean()),
  context: nullish(oneOf(['auto', 'all_turns', 'current_turn'])),
  mode: nullish(oneOf(['standard', 'pro'])),
  exclude: nullish(Type.Boolean()),
});

const metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 16,
  propertyNames: { type: 'string', maxLength: 64, pattern: '^[^\\[\\]]*$' },
  additionalProperties: { type: 'string', maxLength: 512 },
});

const logitBias = Type.Unsafe<Record<string, number>>({
  type: 'object',
  additionalProperties: { type: 'number', minimum: -100, maximum: 100 },
});

/** Every documented field but `messages` and `tools`. */
const settings = {
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
  logit_bias: nullish(logitBias),
  logprobs: nullish(Type.Boolean()),
  top_logprobs: nullish(Type.Integer({ minimum: 0, maximum: 20 })),
  n: nullish(Type.Integer({ minimum: 1 })),
  response_format: nullish(responseFormat),
  tool_choice: toolChoice,
  parallel_tool_calls: nullish(Type.Boolean()),
  max_tool_calls: nullish(Type.Integer({ minimum: 1 })),
  stream: nullish(Type.Boolean({ default: false })),
  stream_options: nullish(
    Type.Object({ include_usage: nullish(Type.Boolean()), include_obfuscation: nullish(Type.Boolean()) }),
  ),
  usage: nullish(Type.Object({ include: nullish(Type.Boolean()) })),
  store: nullish(Type.Boolean()),
  reasoning: nullish(reasoning),
  reasoning_effort: nullish(oneOf(EFFORTS)),
  include_reasoning: nullish(Type.Boolean()),
  verbosity: nullish(oneOf(['low', 'medium', 'high', 'xhigh', 'max'])),
  modalities: nullish(Type.Array(oneOf(['text', 'image', 'audio']), { maxItems: MAX_MODALITIES })),
  audio: nullish(Type.Object({})),
  image_config: nullish(imageConfigSchema),
  prediction: nullish(Type.Object({ type: Type.Literal('content'), content: instructionContent })),
  web_search_options: nullish(
    Type.Object({
      search_context_size: nullish(oneOf(['low', 'medium', 'high'])),
      user_location: nullish(Type.Object({})),
    }),
  ),
  metadata: nullish(metadata),
  safety_identifier: nullish(Type.String()),
  prompt_cache_key: nullish(Type.String()),
  prompt_cache_options: nullish(promptCacheOptionsSchema),
  service_tier: nullish(oneOf(['auto', 'default', 'fast', 'flex', 'priority', 'scale'])),
  debug: nullish(Type.Object({ echo_upstream_body: nullish(Type.Boolean()) })),
};

/** Schema of the request body. */
export function requestSchema(vendor: string): TSchema {
  const tool = taggedUnion('type', [functionTool, customTool, hostedTool]);
  return Type.Object({
    messages: Type.Array(message, { minItems: 1, maxItems: MAX_REQUEST_PIECES }),
    tools: nullish(
      Type.Array(tool, {
        maxItems: MAX_TOOLS,
        description: `Functions, free-text tools, hosted tools and ${vendor}:* tools.`,
      }),
    ),
    ...settings,
  });
}

/** Top-level fields that the format documents. */
export const DOCUMENTED_FIELDS: ReadonlySet<string> = new Set([
  'messages',
  'tools',
  ...Object.keys(settings),
]);

/** Fields that hold the output limit, the one that more upstreams know first. */
export const LIMIT_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;

/** Members of `reasoning` that the format documents. */
export const REASONING_FIELDS: ReadonlySet<string> = new Set(Object.keys(reasoning.properties));

/** Fields for the gateway, which never go upstream. */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  ...SHARED_GATEWAY_FIELDS,
  'usage',
  'include_reasoning',
  'max_tool_calls',
  'store',
]);

/** Documented fields that no other format has and the representation does not model. */
export const CHAT_ONLY_FIELDS: readonly string[] = ['prediction', 'web_search_options', 'audio'];

// --- Answers ---------------------------------------------------------------------------------------------------------

/** One entry of `reasoning_details`. Entries with one `index` are one part; entries with one `id` are one item. */
export interface ReasoningDetail extends JsonObject {
  readonly type: (typeof REASONING_DETAIL_TYPES)[number];
  readonly index?: number;
  readonly id?: string;
  readonly format?: string;
}

/** The end marker of a stream. */
export const DONE = '[DONE]';
