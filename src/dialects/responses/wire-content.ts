import Type, { type TProperties, type TSchema } from 'typebox';
import type { Json } from '../../kit/json/json.ts';
import { nullish, oneOf, open, openOneOf, openUnion } from '../../kit/json/schema.ts';
import { FILE_ID_DESCRIPTION } from '../shared/media/stored-files.ts';
import { cacheControlSchema, MAX_TOOLS } from '../shared/requests/gateway-fields.ts';
import { isVendorType } from '../shared/tools/additional-tools.ts';

/** Schemas of the items and content parts in `input`. */

const text = Type.String();
const id = nullish(Type.String());
const fileId = nullish(Type.String({ description: FILE_ID_DESCRIPTION }));
const toolStatus = openOneOf(['in_progress', 'completed', 'incomplete']);
const searchStatus = openOneOf(['completed', 'searching', 'in_progress', 'failed', 'incomplete']);
const openObject = Type.Object({});

const PART_FIELDS: Readonly<Record<string, TProperties>> = {
  input_text: {
    text,
    prompt_cache_breakpoint: nullish(Type.Object({ mode: openOneOf(['explicit']), ttl: nullish(text) })),
    cache_control: nullish(cacheControlSchema),
  },
  input_image: {
    detail: nullish(openOneOf(['auto', 'high', 'low', 'original'])),
    image_url: nullish(text),
    file_id: fileId,
    cache_control: nullish(cacheControlSchema),
  },
  input_file: {
    file_data: nullish(text),
    file_id: fileId,
    file_url: nullish(text),
    filename: nullish(text),
    cache_control: nullish(cacheControlSchema),
  },
  input_audio: { input_audio: Type.Object({ data: text, format: openOneOf(['mp3', 'wav']) }) },
  input_video: { video_url: Type.String({ minLength: 1 }) },
  output_text: {
    text,
    annotations: nullish(Type.Array(openObject)),
    logprobs: nullish(Type.Array(openObject)),
    cache_control: nullish(cacheControlSchema),
  },
  refusal: { refusal: text },
};

export const contentPartSchema = tagged(PART_FIELDS);

/** Parts allowed in a prompt variable or a tool's output. */
export const inputPartSchema = tagged(pick(PART_FIELDS, ['input_text', 'input_image', 'input_file']));

const toolOutput = Type.Union([text, Type.Array(inputPartSchema)]);
const contentField = Type.Optional(Type.Union([text, Type.Array(contentPartSchema), Type.Null()]));

const messageSchema = Type.Object({
  type: nullish(Type.Literal('message')),
  role: oneOf(['user', 'system', 'assistant', 'developer']),
  content: contentField,
  id,
  status: nullish(toolStatus),
  phase: nullish(openOneOf(['commentary', 'final_answer'])),
});

const summaryPart = openUnion('type', [Type.Object({ type: Type.Literal('summary_text'), text })]);
const reasoningPart = openUnion('type', [Type.Object({ type: Type.Literal('reasoning_text'), text })]);

const patchOperation = tagged({
  create_file: { path: text, diff: text },
  update_file: { path: text, diff: text },
  delete_file: { path: text },
});

const searchSource = openUnion('type', [Type.Object({ type: Type.Literal('url'), url: text })]);

/** A search has its text in `query`, in `queries`, in both, or in neither. */
const searchAction = openUnion('type', [
  Type.Object({
    type: Type.Literal('search'),
    query: nullish(text),
    queries: nullish(Type.Array(text)),
    sources: nullish(Type.Array(searchSource)),
  }),
  Type.Object({ type: Type.Literal('open_page'), url: nullish(text) }),
  Type.Object({ type: Type.Literal('find_in_page'), pattern: text, url: text }),
]);

const shellOutcome = tagged({ exit: { exit_code: Type.Integer() }, timeout: {} });

/**
 * Fields of each item kind except `message`. Ids of replayed output items are optional although the format requires
 * them: clients that keep no state on the server leave them out.
 */
const ITEM_FIELDS: Readonly<Record<string, TProperties>> = {
  reasoning: {
    id,
    summary: Type.Union([Type.Array(summaryPart), Type.Null()]),
    content: nullish(Type.Array(reasoningPart)),
    encrypted_content: nullish(text),
    status: nullish(toolStatus),
    signature: nullish(text),
    format: nullish(text),
  },
  function_call: {
    call_id: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    arguments: text,
    id,
    namespace: nullish(text),
    status: nullish(toolStatus),
  },
  function_call_output: {
    call_id: Type.String({ minLength: 1 }),
    output: toolOutput,
    id,
    status: nullish(toolStatus),
  },
  custom_tool_call: {
    call_id: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    input: text,
    id,
    namespace: nullish(text),
    status: nullish(toolStatus),
  },
  custom_tool_call_output: { call_id: Type.String({ minLength: 1 }), output: toolOutput, id },
  apply_patch_call: {
    call_id: text,
    operation: patchOperation,
    status: openOneOf(['in_progress', 'completed']),
    id,
  },
  apply_patch_call_output: {
    call_id: text,
    status: openOneOf(['completed', 'failed']),
    output: nullish(text),
    id,
  },
  web_search_call: {
    id,
    status: searchStatus,
    action: nullish(searchAction),
  },
  file_search_call: { id, queries: Type.Array(text), status: searchStatus },
  /** A search of posts at xAI. */
  x_search_call: {
    id,
    call_id: id,
    name: nullish(text),
    status: nullish(searchStatus),
    action: nullish(openObject),
    arguments: nullish(text),
    input: nullish(text),
  },
  image_generation_call: {
    id,
    status: openOneOf(['in_progress', 'completed', 'generating', 'failed']),
    result: nullish(text),
    prompt: nullish(text),
  },
  code_interpreter_call: {
    id,
    status: openOneOf(['in_progress', 'completed', 'incomplete', 'interpreting', 'failed']),
    code: nullish(text),
    container_id: nullish(text),
    outputs: nullish(Type.Array(tagged({ logs: { logs: text }, image: { url: text }, file: {} }))),
  },
  computer_call: {
    call_id: text,
    status: toolStatus,
    pending_safety_checks: Type.Array(Type.Object({ code: nullish(text), id: text, message: nullish(text) })),
    action: nullish(openObject),
    id,
  },
  computer_call_output: { call_id: text, output: openObject, id },
  local_shell_call: {
    id,
    call_id: text,
    status: toolStatus,
    action: Type.Object({ type: openOneOf(['exec']), command: Type.Array(text), env: nullish(openObject) }),
  },
  local_shell_call_output: { id, call_id: id, output: text, status: nullish(toolStatus) },
  shell_call: {
    call_id: text,
    action: Type.Object({
      commands: Type.Array(text),
      timeout_ms: nullish(Type.Integer()),
      max_output_length: nullish(Type.Integer()),
    }),
    id,
    status: nullish(toolStatus),
  },
  shell_call_output: {
    call_id: text,
    output: Type.Array(Type.Object({ stdout: text, stderr: text, outcome: shellOutcome })),
    id,
    status: nullish(toolStatus),
    max_output_length: nullish(Type.Integer()),
  },
  mcp_list_tools: {
    id: text,
    server_label: text,
    tools: Type.Array(Type.Object({ name: text, input_schema: openObject })),
  },
  mcp_approval_request: { id: text, name: text, arguments: text, server_label: text },
  mcp_approval_response: { approval_request_id: text, approve: Type.Boolean(), id, reason: nullish(text) },
  mcp_call: { id: text, name: text, arguments: text, server_label: text, output: nullish(text) },
  compaction: { encrypted_content: text, id },
  context_compaction: { encrypted_content: nullish(text), id },
  item_reference: {
    id: Type.String({
      description:
        'Id of an output item that this key was given within the last hour; the item is put in its place. 400 for any other.',
    }),
  },
  additional_tools: {
    role: openOneOf([
      'unknown',
      'user',
      'assistant',
      'system',
      'critic',
      'discriminator',
      'developer',
      'tool',
    ]),
    tools: Type.Array(Type.Object({ type: Type.String({ minLength: 1 }) }), { maxItems: MAX_TOOLS }),
    id,
  },
  configuration_update: {
    id,
    reasoning: nullish(Type.Object({ effort: nullish(text) })),
    text: nullish(openObject),
  },
  compaction_trigger: { id },
  program: { call_id: text, code: text, id },
  program_output: { call_id: text, result: text, id, status: nullish(toolStatus) },
  tool_search_call: { call_id: id, arguments: Type.Unknown(), id, status: nullish(toolStatus) },
  tool_search_output: { call_id: id, tools: Type.Array(openObject, { maxItems: MAX_TOOLS }), id },
  agent_message: {
    author: text,
    recipient: text,
    content: Type.Array(
      tagged({
        ...pick(PART_FIELDS, ['input_text', 'input_image']),
        encrypted_content: { encrypted_content: text },
      }),
    ),
    agent: nullish(Type.Object({ agent_name: text })),
    id,
  },
};

/** Items that callers write themselves. Others come back as upstreams wrote them, and may have further members. */
const OF_CALLERS: ReadonlySet<string> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'apply_patch_call_output',
  'mcp_approval_response',
  'item_reference',
  'configuration_update',
  'compaction_trigger',
]);

/** Item kinds that the format documents. */
export const KNOWN_ITEM_TYPES: ReadonlySet<string> = new Set(['message', ...Object.keys(ITEM_FIELDS)]);

/** One item of `input`. Undocumented types are accepted here; parsing decides about them. */
export const inputItemSchema = openUnion('type', [
  messageSchema,
  ...branches(ITEM_FIELDS, (type) => !OF_CALLERS.has(type)),
]);

/**
 * Member of kept items that show a call of a server tool: `{call_id, name, arguments, output}`, as the model has them.
 * Callers never get it.
 */
export const KEPT_CALL = 'gateway_call';

/** Member of answers to requests for approval: the request, if the conversation does not have it. */
export const KEPT_REQUEST = 'gateway_request';

/** True for item kinds of the form `<vendor>:*`. */
export function isOperatorItem(type: string): boolean {
  return isVendorType(type);
}

/** Items of hosted tools that show less of a call than its model got. */
export const SHOWN_CALLS = ['web_search_call', 'code_interpreter_call'] as const;

/** True for items that show a call of a server tool, but not all that its model got. */
export function showsCall(type: Json | undefined): boolean {
  if (typeof type !== 'string') return false;
  return SHOWN_CALLS.some((known) => known === type) || isOperatorItem(type);
}

function tagged(fields: Readonly<Record<string, TProperties>>) {
  return openUnion('type', branches(fields));
}

function branches(
  fields: Readonly<Record<string, TProperties>>,
  isOpen: (type: string) => boolean = () => false,
): TSchema[] {
  return Object.entries(fields).map(([type, properties]) =>
    (isOpen(type) ? open : Type.Object)({ type: Type.Literal(type), ...properties }),
  );
}

function pick(fields: Readonly<Record<string, TProperties>>, names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, fields[name] ?? {}]));
}
