import Type from 'typebox';
import type { JsonObject } from '../../kit/json/json.ts';
import { closed, oneOf, optional, taggedUnion } from '../../kit/json/schema.ts';
import {
  gatewayFieldSchemas,
  MOST_TOKENS,
  MOST_TOOLS,
  SHARED_GATEWAY_FIELDS,
} from '../shared/requests/gateway-fields.ts';
import { MAX_REQUEST_PIECES } from '../shared/requests/request-pieces.ts';
import { blockSchema, textBlockSchema } from './wire-content.ts';
import { toolChoiceSchema, toolSchema } from './wire-tools.ts';

/** A content block, tagged by its type. */
export interface WireBlock extends JsonObject {
  type: string;
}

export type WireRole = 'user' | 'assistant' | 'system';

/** One turn of a conversation. `system` inside the list is an extension that agents use. */
export interface WireMessage {
  readonly role: WireRole;
  readonly content: string | readonly WireBlock[];
}

const messageSchema = Type.Object({
  role: oneOf(['user', 'assistant', 'system']),
  content: Type.Union([Type.String(), Type.Array(blockSchema)]),
});

const display = optional(oneOf(['summarized', 'omitted']));

const thinkingSchema = taggedUnion('type', [
  Type.Object({ type: Type.Literal('enabled'), budget_tokens: Type.Integer({ minimum: 1 }), display }),
  Type.Object({ type: Type.Literal('disabled') }),
  Type.Object({ type: Type.Literal('adaptive'), display }),
]);

const outputConfigSchema = Type.Object({
  effort: optional(oneOf(['low', 'medium', 'high', 'xhigh', 'max'])),
  format: optional(
    taggedUnion('type', [Type.Object({ type: Type.Literal('json_schema'), schema: Type.Object({}) })]),
  ),
  task_budget: optional(
    Type.Object({
      type: Type.Literal('tokens'),
      total: Type.Integer({ minimum: 20_000 }),
      remaining: optional(Type.Integer({ minimum: 0 })),
    }),
  ),
});

const count = Type.Integer({ minimum: 0 });
const inputTokens = Type.Object({ type: Type.Literal('input_tokens'), value: count });
const toolUses = Type.Object({ type: Type.Literal('tool_uses'), value: count });

const editSchema = taggedUnion('type', [
  Type.Object({
    type: Type.Literal('clear_tool_uses_20250919'),
    trigger: optional(taggedUnion('type', [inputTokens, toolUses])),
    keep: optional(toolUses),
    clear_at_least: optional(inputTokens),
    exclude_tools: optional(Type.Array(Type.String())),
    clear_tool_inputs: optional(Type.Union([Type.Boolean(), Type.Array(Type.String())])),
  }),
  Type.Object({
    type: Type.Literal('clear_thinking_20251015'),
    keep: optional(
      Type.Union([
        Type.Literal('all'),
        taggedUnion('type', [
          Type.Object({ type: Type.Literal('thinking_turns'), value: count }),
          Type.Object({ type: Type.Literal('all') }),
        ]),
      ]),
    ),
  }),
  Type.Object({
    type: Type.Literal('compact_20260112'),
    trigger: optional(inputTokens),
    instructions: optional(Type.String()),
    pause_after_compaction: optional(Type.Boolean()),
  }),
]);

/** Every documented top-level field except the output limit, which counting tokens does not know. */
function sharedFields(vendor: string) {
  return {
    messages: Type.Array(messageSchema, { minItems: 1, maxItems: MAX_REQUEST_PIECES }),
    model: Type.String({ minLength: 1 }),
    system: optional(Type.Union([Type.String(), Type.Array(taggedUnion('type', [textBlockSchema]))])),
    tools: optional(Type.Array(toolSchema(vendor), { maxItems: MOST_TOOLS })),
    tool_choice: optional(toolChoiceSchema),
    thinking: optional(thinkingSchema),
    output_config: optional(outputConfigSchema),
    context_management: optional(Type.Object({ edits: optional(Type.Array(editSchema)) })),
    metadata: optional(Type.Object({ user_id: optional(Type.String()) })),
    stop_sequences: optional(Type.Array(Type.String())),
    stream: optional(Type.Boolean()),
    temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: optional(Type.Integer({ minimum: 0 })),
    service_tier: optional(Type.String()),
    speed: optional(oneOf(['fast', 'standard'])),
    fallbacks: optional(
      Type.Array(closed({ model: Type.String({ minLength: 1 }) }), {
        maxItems: 3,
        description: 'Models to try in order when the primary one fails or refuses; not with `models`.',
      }),
    ),
    prompt_cache_key: optional(
      Type.String({ description: 'Requests with the same key go to the same endpoint where they can.' }),
    ),
    ...gatewayFieldSchemas,
  };
}

const maxTokens = optional(Type.Integer({ minimum: 1, maximum: MOST_TOKENS }));

/** Body of POST /messages. */
export function requestSchema(vendor: string) {
  return Type.Object({ ...sharedFields(vendor), max_tokens: maxTokens });
}

/** Body of POST /messages/count_tokens. */
export function countTokensSchema(vendor: string) {
  return Type.Object(sharedFields(vendor));
}

/** Top-level fields that the contract documents; everything else is the caller's own. */
export const DOCUMENTED_FIELDS: ReadonlySet<string> = new Set(
  Object.keys(requestSchema('vendor').properties),
);

/** Fields that speak to the gateway. The cache mark goes upstream on a block, the end-user id in `metadata`. */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  ...SHARED_GATEWAY_FIELDS,
  'fallbacks',
  'user',
  'cache_control',
  'prompt_cache_key',
]);
