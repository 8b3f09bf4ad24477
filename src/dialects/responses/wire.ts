import Type from 'typebox';
import type { Event, ItemHead, PartKind } from '../../ir/events.ts';
import type { ServerCallItem, ServerCallStatus } from '../../ir/items.ts';
import type { Tool } from '../../ir/request.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';
import { nullish, openOneOf, openUnion } from '../../kit/json/schema.ts';
import { INCLUDE_LOGPROBS, INCLUDE_SEALS } from '../shared/include-values.ts';
import { reasoningSchema } from '../shared/reasoning/reasoning-schema.ts';
import { ADDITIONAL_TOOL_MARK } from '../shared/report/foreign-members.ts';
import {
  gatewayFieldSchemas,
  imageConfigSchema,
  MAX_LIST_ENTRIES,
  MAX_MODALITIES,
  MAX_REQUESTED_TOKENS,
  MAX_TOOLS,
  promptCacheOptionsSchema,
  routingFieldSchemas,
  SHARED_GATEWAY_FIELDS,
} from '../shared/requests/gateway-fields.ts';
import { MAX_REQUEST_PIECES } from '../shared/requests/request-pieces.ts';
import { inputItemSchema, inputPartSchema } from './wire-content.ts';
import { toolChoiceSchema, toolSchema } from './wire-tools.ts';

/** The responses format on the wire: the schema of a request and the events of an answer. */

// --- Settings -------------------------------------------------------------------------------------------------------

const INCLUDES = [
  'file_search_call.results',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  INCLUDE_SEALS,
  'code_interpreter_call.outputs',
  'web_search_call.action.sources',
  'web_search_call.results',
  INCLUDE_LOGPROBS,
] as const;

const textSchema = Type.Object({
  format: nullish(
    openUnion('type', [
      Type.Object({ type: Type.Literal('text') }),
      Type.Object({ type: Type.Literal('json_object') }),
      Type.Object({
        type: Type.Literal('json_schema'),
        name: Type.String({ minLength: 1 }),
        schema: Type.Object({}),
        description: nullish(Type.String()),
        strict: nullish(Type.Boolean()),
      }),
    ]),
  ),
  verbosity: nullish(openOneOf(['low', 'medium', 'high', 'xhigh', 'max'])),
});

/** The count is checked first and alone, so that a million keys are refused before any of them is validated. */
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
  variables: nullish(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: Type.Union([Type.String(), inputPartSchema]),
    }),
  ),
});

// --- The request ----------------------------------------------------------------------------------------------------

export function requestSchema(vendor: string) {
  return Type.Object(fieldSchemas(vendor), { description: 'A generation request in the responses format.' });
}

function fieldSchemas(vendor: string) {
  return {
    ...gatewayFieldSchemas,
    model: nullish(Type.String()),
    input: Type.Optional(
      Type.Union([Type.String(), Type.Array(inputItemSchema, { maxItems: MAX_REQUEST_PIECES }), Type.Null()]),
    ),
    instructions: nullish(Type.String()),
    stream: nullish(Type.Boolean({ default: false })),
    store: Type.Optional(
      Type.Union([Type.Literal(false), Type.Null()], {
        explain: 'must be false: nothing is stored here',
      }),
    ),
    background: nullish(Type.Boolean()),
    previous_response_id: nullish(Type.String()),
    prompt: nullish(promptSchema),
    include: nullish(Type.Array(openOneOf(INCLUDES), { maxItems: MAX_LIST_ENTRIES })),
    max_output_tokens: nullish(Type.Integer({ minimum: 1, maximum: MAX_REQUESTED_TOKENS })),
    max_tool_calls: nullish(Type.Integer({ minimum: 0, maximum: MAX_REQUESTED_TOKENS })),
    temperature: nullish(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: nullish(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: nullish(Type.Integer({ minimum: 0, maximum: MAX_REQUESTED_TOKENS })),
    frequency_penalty: nullish(Type.Number({ minimum: -2, maximum: 2 })),
    presence_penalty: nullish(Type.Number({ minimum: -2, maximum: 2 })),
    top_logprobs: nullish(Type.Integer({ minimum: 0, maximum: 20 })),
    reasoning: nullish(reasoningSchema),
    text: nullish(textSchema),
    tools: nullish(Type.Array(toolSchema(vendor), { maxItems: MAX_TOOLS })),
    tool_choice: toolChoiceSchema(vendor),
    parallel_tool_calls: nullish(Type.Boolean()),
    modalities: nullish(Type.Array(openOneOf(['text', 'image']), { maxItems: MAX_MODALITIES })),
    image_config: nullish(imageConfigSchema),
    prompt_cache_key: nullish(Type.String()),
    prompt_cache_options: nullish(promptCacheOptionsSchema),
    prompt_cache_retention: nullish(Type.String()),
    safety_identifier: nullish(Type.String()),
    service_tier: nullish(openOneOf(['auto', 'default', 'flex', 'priority', 'scale', 'fast', 'ultrafast'])),
    truncation: nullish(openOneOf(['auto', 'disabled'])),
    metadata: nullish(metadataSchema),
    debug: nullish(Type.Object({ echo_upstream_body: nullish(Type.Boolean()) })),
    stream_options: nullish(Type.Object({})),
  };
}

/** Members of a body whose conversation is compacted. */
export function compactionSchema() {
  const { model, input, instructions, service_tier, previous_response_id } = fieldSchemas('vendor');
  const { prompt_cache_key, prompt_cache_options, prompt_cache_retention } = fieldSchemas('vendor');
  return {
    model,
    input,
    instructions,
    previous_response_id,
    prompt_cache_key,
    prompt_cache_options,
    prompt_cache_retention,
    service_tier,
    ...routingFieldSchemas,
  };
}

// --- Kinds of fields ------------------------------------------------------------------------------------------------

export const DOCUMENTED_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(fieldSchemas('vendor')),
  'conversation',
]);

/** Top-level fields of a body whose conversation is compacted. */
export const COMPACTION_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(compactionSchema()),
  'conversation',
]);

/** Members of `text` that the format documents. */
export const TEXT_FIELDS: ReadonlySet<string> = new Set(Object.keys(textSchema.properties));

/** Fields for the gateway, which never go upstream. */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  ...SHARED_GATEWAY_FIELDS,
  'prompt',
  'background',
  'previous_response_id',
  'conversation',
]);

/** Documented fields that the representation does not model: sent unchanged to upstreams of this dialect. */
export const UNMODELLED_FIELDS: readonly string[] = ['stream_options', 'prompt_cache_retention'];

// --- Items ----------------------------------------------------------------------------------------------------------

export const ID_PREFIXES = {
  message: 'msg_',
  reasoning: 'rs_',
  function: 'fc_',
  custom: 'ctc_',
  image: 'ig_',
  'server-call': 'st_',
  opaque: 'item_',
} as const;

/** How callers see a server tool that they asked for by a hosted type: type of the item, its steps, its id. */
export interface HostedItem {
  readonly type: string;
  /** Steps from the beginning to the run of the tool. */
  readonly begun: readonly string[];
  /** Step at the end, by the status of the call; absent = there is none. */
  readonly ended: Readonly<Partial<Record<ServerCallStatus, string>>>;
  /** Arguments are a member of the item. `events`: they are sent while it runs, too. */
  readonly input?: { readonly events?: { readonly delta: string; readonly done: string } };
  /** Events of the code that the call runs: they come before the last of `begun`. */
  readonly code?: { readonly delta: string; readonly done: string };
  /** The item has the id of the call, by which the caller answers it. */
  readonly hasCallId?: boolean;
  readonly hasNoStatus?: boolean;
  readonly idPrefix: string;
  /** Its own members, from those of the server tool; absent = the same. */
  readonly membersOf?: (shown: JsonObject) => JsonObject;
}

/** Items by the name of the server tool. */
const HOSTED_ITEMS: ReadonlyMap<string, HostedItem> = new Map<string, HostedItem>([
  [
    'web_search',
    {
      type: 'web_search_call',
      begun: ['in_progress', 'searching'],
      ended: { completed: 'completed' },
      idPrefix: 'ws_',
    },
  ],
  [
    'image_generation',
    {
      type: 'image_generation_call',
      begun: ['in_progress', 'generating'],
      ended: { completed: 'completed' },
      idPrefix: 'ig_',
      membersOf: (shown) => ({ result: null, ...shown }),
    },
  ],
  ['apply_patch', { type: 'apply_patch_call', begun: [], ended: {}, hasCallId: true, idPrefix: 'apc_' }],
  [
    'code_interpreter',
    {
      type: 'code_interpreter_call',
      begun: ['in_progress', 'interpreting'],
      ended: { completed: 'completed' },
      code: {
        delta: 'response.code_interpreter_call_code.delta',
        done: 'response.code_interpreter_call_code.done',
      },
      idPrefix: 'ci_',
      membersOf: interpreterMembers,
    },
  ],
]);

/** Items of tools of MCP servers, which have several kinds of items, by the type of the item. */
const MCP_ITEMS: ReadonlyMap<string, HostedItem> = new Map([
  [
    'mcp_call',
    {
      type: 'mcp_call',
      begun: ['in_progress'],
      ended: { completed: 'completed', failed: 'failed' },
      input: {
        events: { delta: 'response.mcp_call_arguments.delta', done: 'response.mcp_call_arguments.done' },
      },
      idPrefix: 'mcp_',
    },
  ],
  [
    'mcp_list_tools',
    {
      type: 'mcp_list_tools',
      begun: ['in_progress'],
      ended: { completed: 'completed', failed: 'failed' },
      hasNoStatus: true,
      idPrefix: 'mcpl_',
    },
  ],
  [
    'mcp_approval_request',
    {
      type: 'mcp_approval_request',
      begun: [],
      ended: {},
      input: {},
      hasNoStatus: true,
      idPrefix: 'mcpr_',
    },
  ],
]);

function interpreterMembers({ code = null, container_id = 'auto', ...shown }: JsonObject): JsonObject {
  const logs = ['stdout', 'stderr', 'error'].map((key) => stringAt(shown, key) ?? '').join('');
  return { code, container_id, outputs: logs === '' ? null : [{ type: 'logs', logs }] };
}

/** Beginnings of the events of server tools that show their steps. */
const STEP_EVENTS: ReadonlyMap<string, string> = new Map([['fusion', 'response.fusion_call']]);

/** The name of a server tool's event for a step; undefined = the format has none. */
export function stepEventOf({ tool }: Pick<ServerCallItem, 'tool'>, step: string): string | undefined {
  const prefix = STEP_EVENTS.get(tool);
  return prefix && `${prefix}.${step}`;
}

/** The form of a server tool that was asked for by a hosted type; undefined = it has its own type. */
export function hostedItemOf({
  tool,
  hostedAs,
}: Pick<ServerCallItem, 'tool' | 'hostedAs'>): HostedItem | undefined {
  return hostedAs === undefined ? undefined : (HOSTED_ITEMS.get(tool) ?? MCP_ITEMS.get(hostedAs));
}

/** The format of sealed reasoning if the upstream names no maker. */
export const OWN_REASONING_FORMAT = 'openai-responses-v1';

/** True for a tool that an `additional_tools` item declares. */
export function isInItem(tool: Tool): boolean {
  return tool.type !== 'hosted' && tool.ext?.responses?.[ADDITIONAL_TOOL_MARK] === true;
}

// --- Answers --------------------------------------------------------------------------------------------------------

/** Events for pieces of text: their kind, the kind of their item, and the field that counts the parts. */
export interface TextChannel {
  readonly kind: PartKind;
  readonly item: 'message' | 'reasoning';
  readonly index: 'content_index' | 'summary_index';
  /** Event of one piece. */
  readonly delta: string;
  /** Event of the whole text, and the member that holds it. */
  readonly done: string;
  readonly doneField: string;
  /** Events around the part. */
  readonly partAdded: string;
  readonly partDone: string;
  /** Type of the part, and the member that holds its text. */
  readonly partType: string;
  readonly partField: string;
}

const CONTENT_PART = {
  index: 'content_index',
  partAdded: 'response.content_part.added',
  partDone: 'response.content_part.done',
} as const;

export const TEXT_CHANNELS: Readonly<Record<PartKind, TextChannel>> = {
  text: {
    kind: 'text',
    item: 'message',
    ...CONTENT_PART,
    delta: 'response.output_text.delta',
    done: 'response.output_text.done',
    doneField: 'text',
    partType: 'output_text',
    partField: 'text',
  },
  refusal: {
    kind: 'refusal',
    item: 'message',
    ...CONTENT_PART,
    delta: 'response.refusal.delta',
    done: 'response.refusal.done',
    doneField: 'refusal',
    partType: 'refusal',
    partField: 'refusal',
  },
  thought: {
    kind: 'thought',
    item: 'reasoning',
    ...CONTENT_PART,
    delta: 'response.reasoning_text.delta',
    done: 'response.reasoning_text.done',
    doneField: 'text',
    partType: 'reasoning_text',
    partField: 'text',
  },
  summary: {
    kind: 'summary',
    item: 'reasoning',
    index: 'summary_index',
    partAdded: 'response.reasoning_summary_part.added',
    partDone: 'response.reasoning_summary_part.done',
    delta: 'response.reasoning_summary_text.delta',
    done: 'response.reasoning_summary_text.done',
    doneField: 'text',
    partType: 'summary_text',
    partField: 'text',
  },
};

const CHANNELS = Object.values(TEXT_CHANNELS);

/** Channels by the event that carries a piece. The last entry is an older name of raw thoughts. */
export const CHANNEL_BY_DELTA: ReadonlyMap<string, TextChannel> = new Map([
  ...CHANNELS.map((channel) => [channel.delta, channel] as const),
  ['response.reasoning.delta', TEXT_CHANNELS.thought],
]);

export const CHANNEL_BY_DONE: ReadonlyMap<string, TextChannel> = new Map(
  CHANNELS.map((channel) => [channel.done, channel]),
);

export const CHANNEL_BY_PART: ReadonlyMap<string, TextChannel> = new Map(
  CHANNELS.map((channel) => [channel.partType, channel]),
);

/** Events for the input of a tool call. */
export const INPUT_CHANNELS = {
  function: {
    type: 'function_call',
    field: 'arguments',
    delta: 'response.function_call_arguments.delta',
    done: 'response.function_call_arguments.done',
  },
  custom: {
    type: 'custom_tool_call',
    field: 'input',
    delta: 'response.custom_tool_call_input.delta',
    done: 'response.custom_tool_call_input.done',
  },
} as const;

/** Events that begin an answer; each holds a snapshot. */
export const OPENING_EVENTS: ReadonlySet<string> = new Set([
  'response.created',
  'response.in_progress',
  'response.queued',
]);

/** Steps of an image, which are written by the events of its item. */
export const IMAGE_STEPS: ReadonlySet<string> = new Set([
  'response.image_generation_call.in_progress',
  'response.image_generation_call.generating',
  'response.image_generation_call.completed',
]);

/** Events that end an answer; each holds a snapshot. */
export const TERMINAL_EVENTS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
]);

/** Progress events of hosted tools, each of one item; not modelled. */
const PROGRESS_EVENT =
  /^response\.(?:(?:web_search_call|file_search_call|image_generation_call|code_interpreter_call|mcp_call|mcp_list_tools)\.[a-z_]{1,32}|(?:code_interpreter_call_code|mcp_call_arguments)\.(?:delta|done))$/;

/** Events of the representation that a wire event includes; undefined for types that we do not model. */
export function coveredBy(type: string): ReadonlySet<Event['type']> | undefined {
  return lookUp(COVERED, type);
}

/** True for events that name their item in members that we know: where these are absent, they are added. */
export function namesItem(type: string): boolean {
  return lookUp(COVERED, type) !== undefined || PROGRESS_EVENT.test(type);
}

const NOTHING: ReadonlySet<Event['type']> = new Set();

const COVERED: Readonly<Record<string, ReadonlySet<Event['type']>>> = {
  'response.output_item.added': new Set(['item-start'] as const),
  'response.output_item.done': new Set(['seal', 'image-data', 'item-end'] as const),
  'response.output_text.annotation.added': new Set(['annotation'] as const),
  ...Object.fromEntries(
    CHANNELS.flatMap((channel) => [
      [channel.partAdded, new Set(['part-start'] as const)],
      [channel.partDone, new Set(['part-end'] as const)],
      [channel.delta, new Set(['text-delta'] as const)],
      [channel.done, NOTHING],
    ]),
  ),
  ...Object.fromEntries(
    Object.values(INPUT_CHANNELS).flatMap((channel) => [
      [channel.delta, new Set(['tool-input-delta'] as const)],
      [channel.done, NOTHING],
    ]),
  ),
};

/** True for kinds of items that must not overlap in the representation. */
export function isExclusive(type: ItemHead['type']): boolean {
  return type === 'message' || type === 'reasoning';
}
