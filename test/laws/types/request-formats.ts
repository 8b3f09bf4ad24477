import type { Format } from '../../../src/ir/items.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import type { Walk } from './probe.ts';

/** What the types of a format's requests do not say. */
export interface RequestFormat {
  readonly path: string;
  /** A greeting, to which the members of a probe are added. */
  readonly greeting: JsonObject;
  /** Elements that a list of this name begins with in requests. */
  readonly anchors: Walk['anchors'];
  readonly isPossible: Walk['isPossible'];
  /** Adds what a request needs so that it makes sense: the call of a result, the tool that a choice names. */
  complete(body: any): JsonObject;
}

/** The tools that choices may name. */
const TOOL_NAMES = ['lookup', 'lookup_too'];
const TOOL_SCHEMA = { type: 'object', properties: {} };

/* messages */

/** Blocks that only users write. */
const USER_BLOCKS = new Set(['tool_result', 'image', 'document', 'search_result', 'container_upload']);
/** Blocks that only a system turn has. */
const SYSTEM_BLOCKS = new Set(['tool_addition', 'tool_removal']);

/** Whose content may begin with a text. */
const SPEAKERS = new Set(['messages', 'user', 'assistant', 'system', 'developer', 'tool', 'tool_result']);
const ANCHOR = { type: 'text', text: 'Anchor' };

const MESSAGES: RequestFormat = {
  path: '/messages',
  greeting: { max_tokens: 4000, messages: [{ role: 'user', content: 'Hello' }] },
  anchors(member, owner) {
    if (member === 'messages') return [{ role: 'user', content: 'Hello' }];
    if (member === 'system' || (member === 'content' && SPEAKERS.has(owner))) return [ANCHOR];
    return [];
  },
  isPossible(owner, member, said) {
    if (member !== 'content') return true;
    const type = said.slice(2);
    if (type === '' || type === 'text') return true;
    if (owner === 'user') return USER_BLOCKS.has(type);
    if (owner === 'assistant') return !USER_BLOCKS.has(type) && !SYSTEM_BLOCKS.has(type);
    return true;
  },
  complete(body) {
    const messages: any[] = [];
    for (const message of body.messages ?? []) {
      const blocks = Array.isArray(message.content) ? message.content : [];
      for (const result of blocks.filter(({ type }: any) => type === 'tool_result')) {
        const id = result.tool_use_id;
        messages.push({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'lookup', input: {} }] });
      }
      if (message.role !== 'user' && messages.at(-1)?.role !== 'user') messages.push(HELLO);
      messages.push(message);
    }
    if (messages.at(-1)?.role !== 'user') messages.push(HELLO);
    return withTool(
      { ...body, messages },
      ...TOOL_NAMES.map((name) => ({ name, input_schema: TOOL_SCHEMA })),
    );
  },
};

const HELLO = { role: 'user', content: 'Go on.' };

/** A choice of tools needs a tool. */
function withTool(body: any, ...tools: JsonObject[]): JsonObject {
  return body.tool_choice === undefined || body.tools !== undefined ? body : { ...body, tools };
}

/* responses */

/** What a result is the result of: type of the call, and what else it needs. */
const CALLS: Readonly<Record<string, JsonObject>> = {
  function_call_output: { type: 'function_call', name: 'lookup', arguments: '{}' },
  custom_tool_call_output: { type: 'custom_tool_call', name: 'lookup', input: 'a' },
  shell_call_output: { type: 'shell_call', action: { commands: ['ls'] }, status: 'completed' },
  local_shell_call_output: {
    type: 'local_shell_call',
    action: { type: 'exec', command: ['ls'], env: {} },
    status: 'completed',
  },
  apply_patch_call_output: {
    type: 'apply_patch_call',
    operation: { type: 'delete_file', path: 'a' },
    status: 'completed',
  },
  computer_call_output: {
    type: 'computer_call',
    id: 'cu_1',
    actions: [{ type: 'screenshot' }],
    pending_safety_checks: [],
    status: 'completed',
  },
  tool_search_output: { type: 'tool_search_call', arguments: {}, execution: 'client', status: 'completed' },
  program_output: { type: 'program', id: 'program_1', code: 'a', fingerprint: 'a' },
};

const RESPONSES: RequestFormat = {
  path: '/responses',
  greeting: { input: 'Hello' },
  anchors(member) {
    if (member === 'input') return [{ role: 'user', content: 'Hello' }];
    return [];
  },
  isPossible: () => true,
  complete(body) {
    const { type } = body.tool_choice ?? {};
    const chosen = type === 'mcp' ? chosenServer(body.tool_choice) : CHOSEN[type];
    const named = type === 'custom' ? CUSTOM_TOOLS : FUNCTION_TOOLS;
    const tools = chosen === undefined ? named : [chosen];
    if (!Array.isArray(body.input)) return withTool(body, ...tools);
    const input = body.input.flatMap((item: any) => {
      const call = CALLS[item.type];
      if (item.type === 'mcp_approval_response') {
        const asked = { type: 'mcp_approval_request', id: item.approval_request_id, name: 'lookup' };
        return [{ ...asked, server_label: 'one', arguments: '{}' }, item];
      }
      return call === undefined ? [item] : [{ ...call, call_id: item.call_id ?? 'call_1' }, item];
    });
    return withTool(withOneFile({ ...body, input }), ...tools);
  },
};

/** A file has one source. */
function withOneFile(value: any): any {
  if (Array.isArray(value)) return value.map(withOneFile);
  if (typeof value !== 'object' || value === null) return value;
  const { file_data, image_url, ...rest } = value;
  const isReference = typeof (value.file_id ?? value.file_url) === 'string';
  if (isReference && (file_data ?? image_url) !== undefined) return rest;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withOneFile(inner)]));
}

/** The tool that a choice of its type names, where that is not a function. */
const CHOSEN: Readonly<Record<string, JsonObject>> = {
  apply_patch: { type: 'apply_patch' },
  code_interpreter: { type: 'code_interpreter', container: { type: 'auto' } },
  computer: { type: 'computer' },
  computer_use: { type: 'computer' },
  computer_use_preview: {
    type: 'computer_use_preview',
    display_width: 100,
    display_height: 100,
    environment: 'browser',
  },
  file_search: { type: 'file_search', vector_store_ids: ['vs_1'] },
  image_generation: { type: 'image_generation' },
  programmatic_tool_calling: { type: 'programmatic_tool_calling' },
  shell: { type: 'shell' },
  web_search_preview: { type: 'web_search_preview' },
  web_search_preview_2025_03_11: { type: 'web_search_preview_2025_03_11' },
};

function chosenServer({ server_label }: JsonObject): JsonObject {
  return { type: 'mcp', server_label: server_label ?? 'one', server_url: 'https://mcp.invalid/a' };
}

const CUSTOM_TOOLS = TOOL_NAMES.map((name) => ({ type: 'custom', name }));

const FUNCTION_TOOLS = TOOL_NAMES.map((name) => ({
  type: 'function',
  name,
  parameters: TOOL_SCHEMA,
  strict: null,
}));

/* chat */

const CHAT: RequestFormat = {
  path: '/chat/completions',
  greeting: { messages: [{ role: 'user', content: 'Hello' }] },
  anchors(member, owner) {
    if (member === 'messages') return [{ role: 'user', content: 'Hello' }];
    return member === 'content' && SPEAKERS.has(owner) ? [ANCHOR] : [];
  },
  isPossible: () => true,
  complete(body) {
    const messages = body.messages.flatMap((message: any) => {
      const call = { type: 'function', function: { name: 'lookup', arguments: '{}' } };
      if (message.role === 'tool') {
        return [{ role: 'assistant', tool_calls: [{ id: message.tool_call_id, ...call }] }, message];
      }
      if (message.role === 'function') return [{ role: 'assistant', function_call: call.function }, message];
      return [message];
    });
    const last = messages.at(-1);
    const ended = last.role === 'assistant' ? [...messages, HELLO] : messages;
    const tools = TOOL_NAMES.map((name) => ({
      type: 'function',
      function: { name, parameters: TOOL_SCHEMA },
    }));
    const logprobs = (body.top_logprobs ?? null) === null ? {} : { logprobs: true };
    return withTool(withOneFile({ ...logprobs, ...body, messages: ended }), ...tools);
  },
};

export const REQUEST_FORMATS: Readonly<Record<Format, RequestFormat>> = {
  messages: MESSAGES,
  responses: RESPONSES,
  chat: CHAT,
};

/** Members whose values are names of models and providers: those belong to a catalogue. */
export const CATALOGUE_MEMBERS: ReadonlySet<string> = new Set(['model', 'only', 'order', 'ignore']);

/**
 * Members of the root that are not tried: the bench sets the first two itself, and plugins of the gateway may call
 * several models at once, so that there is no one request to compare.
 */
export const OWN_MEMBERS: ReadonlySet<string> = new Set(['model', 'stream', 'plugins']);
