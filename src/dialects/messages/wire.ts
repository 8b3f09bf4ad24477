import Type from 'typebox';
import type { JsonObject } from '../../kit/json/json.ts';
import { nullish, oneOf, openOneOf, openUnion, taggedUnion } from '../../kit/json/schema.ts';
import {
  gatewayFieldSchemas,
  MAX_REQUESTED_TOKENS,
  MAX_TOOLS,
  SHARED_GATEWAY_FIELDS,
} from '../shared/requests/gateway-fields.ts';
import { MAX_REQUEST_PIECES } from '../shared/requests/request-pieces.ts';
import { blockSchema, textBlockSchema } from './wire-content.ts';
import { toolChoiceSchema, toolSchema } from './wire-tools.ts';

/** The messages format on the wire: turns and the schema of a request. */

// --- Messages -------------------------------------------------------------------------------------------------------

/** A content block, tagged by its type. */
export interface WireBlock extends JsonObject {
  type: string;
}

export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

export type WireRole = 'user' | 'assistant' | 'system';

export interface WireMessage {
  readonly role: WireRole;
  /** A system turn may have settings instead. */
  readonly content?: string | readonly WireBlock[];
}

const content = Type.Union([Type.String(), Type.Array(blockSchema)]);

const messageSchema = taggedUnion('role', [
  Type.Object({ role: oneOf(['user', 'assistant']), content }),
  Type.Object({
    role: Type.Literal('system'),
    content: Type.Optional(content),
    clear_at: nullish(openOneOf(['next_user_message', 'never'])),
    output_config: nullish(Type.Object({ effort: nullish(openOneOf(EFFORTS)) })),
  }),
]);

// --- Settings -------------------------------------------------------------------------------------------------------

const display = nullish(openOneOf(['summarized', 'omitted', 'updates']));

const thinkingSchema = openUnion('type', [
  Type.Object({ type: Type.Literal('enabled'), budget_tokens: Type.Integer({ minimum: 1 }), display }),
  Type.Object({ type: Type.Literal('disabled') }),
  Type.Object({ type: Type.Literal('adaptive'), display }),
  Type.Object({ type: Type.Literal('between_tools') }),
]);

const outputConfigSchema = Type.Object({
  effort: nullish(openOneOf(EFFORTS)),
  format: nullish(
    openUnion('type', [Type.Object({ type: Type.Literal('json_schema'), schema: Type.Object({}) })]),
  ),
  task_budget: nullish(
    Type.Object({
      type: openOneOf(['tokens']),
      total: Type.Integer({ minimum: 20_000 }),
      remaining: nullish(Type.Integer({ minimum: 0 })),
    }),
  ),
});

const count = Type.Integer({ minimum: 0 });
const inputTokens = Type.Object({ type: Type.Literal('input_tokens'), value: count });
const toolUses = Type.Object({ type: Type.Literal('tool_uses'), value: count });

const editSchema = openUnion('type', [
  Type.Object({
    type: Type.Literal('clear_tool_uses_20250919'),
    trigger: nullish(openUnion('type', [inputTokens, toolUses])),
    keep: nullish(openUnion('type', [toolUses])),
    clear_at_least: nullish(openUnion('type', [inputTokens])),
    exclude_tools: nullish(Type.Array(Type.String())),
    clear_tool_inputs: nullish(Type.Union([Type.Boolean(), Type.Array(Type.String())])),
  }),
  Type.Object({
    type: Type.Literal('clear_thinking_20251015'),
    keep: nullish(
      Type.Union([
        openOneOf(['all']),
        openUnion('type', [
          Type.Object({ type: Type.Literal('thinking_turns'), value: count }),
          Type.Object({ type: Type.Literal('all') }),
        ]),
      ]),
    ),
  }),
  Type.Object({
    type: Type.Literal('compact_20260112'),
    trigger: nullish(openUnion('type', [inputTokens])),
    instructions: nullish(Type.String()),
    pause_after_compaction: nullish(Type.Boolean()),
  }),
]);

/** A model that the gateway tries. With other members it is an entry for the upstream. */
const fallbackSchema = Type.Object({
  model: Type.String({ minLength: 1 }),
  max_tokens: nullish(Type.Integer({ minimum: 1 })),
  thinking: nullish(thinkingSchema),
  output_config: nullish(outputConfigSchema),
  speed: nullish(openOneOf(['fast', 'standard'])),
});

const mcpServerSchema = Type.Object({
  type: nullish(Type.Literal('url')),
  name: Type.String({ minLength: 1, description: 'Name of the server in the answer.' }),
  url: nullish(Type.String({ description: 'Its address; absent = a server of the configuration.' })),
  authorization_token: nullish(Type.String({ description: 'Sent to this server only.' })),
  tool_configuration: nullish(
    Type.Object({
      enabled: nullish(Type.Boolean()),
      allowed_tools: nullish(Type.Array(Type.String())),
    }),
  ),
});

// --- The request ----------------------------------------------------------------------------------------------------

/** Body of POST /messages. */
export function requestSchema(vendor: string) {
  return Type.Object(fieldSchemas(vendor));
}

/** Body of POST /messages/count_tokens. */
export function countTokensSchema(vendor: string) {
  return Type.Object(countedFieldSchemas(vendor));
}

function fieldSchemas(vendor: string) {
  return {
    ...countedFieldSchemas(vendor),
    max_tokens: nullish(Type.Integer({ minimum: 1, maximum: MAX_REQUESTED_TOKENS })),
  };
}

/** Every field but the output limit, which counting tokens does not have. */
function countedFieldSchemas(vendor: string) {
  return {
    messages: Type.Array(messageSchema, { minItems: 1, maxItems: MAX_REQUEST_PIECES }),
    model: Type.String({ minLength: 1 }),
    system: nullish(Type.Union([Type.String(), Type.Array(openUnion('type', [textBlockSchema]))])),
    tools: nullish(Type.Array(toolSchema(vendor), { maxItems: MAX_TOOLS })),
    tool_choice: nullish(toolChoiceSchema),
    thinking: nullish(thinkingSchema),
    output_config: nullish(outputConfigSchema),
    context_management: nullish(Type.Object({ edits: nullish(Type.Array(editSchema)) })),
    mcp_servers: nullish(
      Type.Array(mcpServerSchema, {
        description: 'MCP servers whose tools the model may call; the tool `mcp_toolset` says which of them.',
      }),
    ),
    metadata: nullish(Type.Object({ user_id: nullish(Type.String()) })),
    stop_sequences: nullish(Type.Array(Type.String())),
    stream: nullish(Type.Boolean()),
    temperature: nullish(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: nullish(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: nullish(Type.Integer({ minimum: 0 })),
    service_tier: nullish(Type.String()),
    speed: nullish(oneOf(['fast', 'standard'])),
    container: Type.Optional(
      Type.Unknown({ description: "Id or settings of the upstream's container for its own tools." }),
    ),
    inference_geo: nullish(
      Type.String({
        description:
          'Region in which an upstream of Anthropic runs the model; `us` costs a tenth more there.',
      }),
    ),
    safeguards: Type.Optional(
      Type.Unknown({
        description:
          'Checks that the upstream makes of calls. Endpoints that cannot take it are left out; 400 if none is left.',
      }),
    ),
    fallbacks: nullish(
      Type.Union([
        openOneOf(['default'], { description: 'Fallbacks of the upstream, for upstreams of Anthropic.' }),
        Type.Array(fallbackSchema, {
          maxItems: 3,
          description:
            'Models to try in order when the primary one fails or refuses; not with `models`. With entries that set ' +
            'more than `model` the list is for the upstream, which falls back by itself.',
        }),
      ]),
    ),
    prompt_cache_key: nullish(
      Type.String({ description: 'Requests with the same key go to the same endpoint where they can.' }),
    ),
    ...gatewayFieldSchemas,
  };
}

// --- Kinds of fields ------------------------------------------------------------------------------------------------

export const DOCUMENTED_FIELDS: ReadonlySet<string> = new Set(Object.keys(fieldSchemas('vendor')));

/** Members of a message that the format documents. */
export const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['role', 'content']);

/** Members that only system turns have. */
export const SYSTEM_TURN_FIELDS: ReadonlySet<string> = new Set([
  ...MESSAGE_FIELDS,
  'clear_at',
  'output_config',
]);

/** Members of `thinking` that the format documents. */
export const THINKING_FIELDS: ReadonlySet<string> = new Set(['type', 'budget_tokens', 'display']);

/** Members of `tool_choice` that the format documents. */
export const CHOICE_FIELDS: ReadonlySet<string> = new Set(['type', 'name', 'disable_parallel_tool_use']);

/** Fields for the gateway. The cache mark goes upstream on a block, the end-user id in `metadata`. */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  ...SHARED_GATEWAY_FIELDS,
  'fallbacks',
  'user',
  'cache_control',
  'prompt_cache_key',
]);

/** Documented fields that the representation does not model: sent unchanged to upstreams of this dialect. */
export const UNMODELLED_FIELDS: readonly string[] = [
  'context_management',
  'mcp_servers',
  'container',
  'inference_geo',
  'safeguards',
];
