import type { DialectName } from '../../../src/ir/items.ts';
import type { Frame } from '../../../src/kit/frames/frames.ts';
import type { Json, JsonObject } from '../../../src/kit/json/json.ts';
import { bedrockAnswer } from '../matrix/answers/bedrock.ts';
import { chatAnswer } from '../matrix/answers/chat.ts';
import { geminiAnswer } from '../matrix/answers/gemini.ts';
import { messagesAnswer } from '../matrix/answers/messages.ts';
import { responsesAnswer, said } from '../matrix/answers/responses.ts';
import type { WireAnswer } from '../matrix/answers/wire-answer.ts';
import type { Steps } from './fate.ts';

/** Answers of a dialect, into which a probe of its types is put. */
export interface AnswerFormat {
  /** An answer that says "Hi". */
  readonly plain: WireAnswer;
  /** Elements that lists of this name begin with. */
  readonly anchors: Readonly<Record<string, readonly Json[]>>;
  /** The answer that a probe is put into: the plain one, unless what is probed stands in answers without a message. */
  baseFor(name: string): JsonObject;
  /** Adds what an answer needs so that it makes sense: the call of a result, the result of a call that was run. */
  complete(body: any): JsonObject;
  /** True for members that no upstream says: those that repeat the request, or that the SDK adds. */
  isEcho(owner: string, member: string): boolean;
  /** A whole answer and, for formats that callers speak, the same as a stream. */
  whole(body: JsonObject): WireAnswer;
  /** The frames of the plain answer with an event in it. Empty for dialects that no caller speaks. */
  withEvent(event: JsonObject, places: readonly Steps[]): readonly Frame[];
}

/** A value of one body put into another, with as much of what surrounds it as the other lacks. */
export function graft(base: JsonObject, from: JsonObject, places: readonly Steps[]): JsonObject {
  const result = structuredClone(base);
  for (const place of places) {
    let target: any = result;
    let source: any = from;
    for (const [index, step] of place.entries()) {
      const isLast = index === place.length - 1 || target[step] === undefined || target[step] === null;
      source = source?.[step];
      if (isLast || typeof target[step] !== 'object') {
        if (source === undefined) delete target[step];
        else target[step] = source;
        break;
      }
      target = target[step];
    }
  }
  return result;
}

function eventsOf(frames: readonly Frame[]): JsonObject[] {
  return frames.filter(({ data }) => data !== '[DONE]').map(({ data }) => JSON.parse(data));
}

function typedFrames(events: readonly JsonObject[]): Frame[] {
  return events.map((event) => ({ event: String(event.type), data: JSON.stringify(event) }));
}

/* messages */

const PLAIN_MESSAGE = messagesAnswer([{ type: 'text', text: 'Hi' }]);

/** The block that a delta continues. */
const BLOCKS: Readonly<Record<string, JsonObject>> = {
  text_delta: { type: 'text', text: '' },
  citations_delta: { type: 'text', text: '' },
  input_json_delta: { type: 'tool_use', id: 'toolu_1', name: 'lookup', input: {} },
  thinking_delta: { type: 'thinking', thinking: '', signature: '' },
  signature_delta: { type: 'thinking', thinking: '', signature: '' },
  compaction_delta: { type: 'compaction', content: null },
};

/** Calls that the upstream ran by itself stand beside their results. */
function withPairs(content: readonly any[] | undefined): any[] | undefined {
  return content?.flatMap((block) => {
    const type = String(block.type);
    if (type === 'server_tool_use') {
      const result = { type: `${block.name}_tool_result`, tool_use_id: block.id, content: [] };
      return [block, result];
    }
    if (type === 'mcp_tool_use') {
      const content = [{ type: 'text', text: 'found' }];
      return [block, { type: 'mcp_tool_result', tool_use_id: block.id, is_error: false, content }];
    }
    if (!type.endsWith('_tool_result')) return [block];
    const name = type.slice(0, -'_tool_result'.length);
    const call = { id: block.tool_use_id, name, input: { query: 'a' }, caller: { type: 'direct' } };
    return type === 'mcp_tool_result'
      ? [{ ...call, type: 'mcp_tool_use', name: 'lookup', server_name: 'one' }, block]
      : [{ ...call, type: 'server_tool_use' }, block];
  });
}

const MESSAGES: AnswerFormat = {
  plain: PLAIN_MESSAGE,
  baseFor: () => PLAIN_MESSAGE.body,
  anchors: { content: [{ type: 'text', text: 'Hi' }] },
  complete: (body) => ({ ...body, content: withPairs(body.content) }),
  isEcho: () => false,
  whole(body) {
    const { content, stop_reason, stop_sequence, stop_details, usage } = body as any;
    const { frames } = messagesAnswer(content, { stop_reason, stop_sequence, stop_details }, usage);
    const begun = new Set([
      'id',
      'type',
      'role',
      'model',
      'content',
      'stop_reason',
      'stop_sequence',
      'usage',
    ]);
    const more = Object.entries(body).filter(([name]) => !begun.has(name) && name !== 'stop_details');
    const events = eventsOf(frames).map((event) =>
      event.type === 'message_start'
        ? { ...event, message: { ...(event.message as JsonObject), ...Object.fromEntries(more) } }
        : event,
    );
    return { body, frames: typedFrames(events) };
  },
  withEvent(event, places) {
    const base = eventsOf(PLAIN_MESSAGE.frames);
    const stop = base.findIndex(({ type }) => type === 'message_delta');
    if (event.type === 'content_block_delta') {
      const delta = event.delta as JsonObject;
      const start = {
        type: 'content_block_start',
        index: 1,
        content_block: BLOCKS[String(delta.type)] ?? {},
      };
      const ended = { type: 'content_block_stop', index: 1 };
      return typedFrames([...base.slice(0, stop), start, { ...event, index: 1 }, ended, ...base.slice(stop)]);
    }
    if (event.type === 'content_block_start') {
      const ended = { type: 'content_block_stop', index: 1 };
      return typedFrames([...base.slice(0, stop), { ...event, index: 1 }, ended, ...base.slice(stop)]);
    }
    return typedFrames(base.map((each) => (each.type === event.type ? graft(each, event, places) : each)));
  },
};

/* responses */

const PLAIN_RESPONSE = responsesAnswer([said('Hi')]);

/** The item that an event is about, by the beginning of the event's name. */
const ITEMS: readonly (readonly [begins: RegExp, item: JsonObject])[] = [
  [
    /code_interpreter/,
    { type: 'code_interpreter_call', code: 'a', container_id: 'cntr_1', outputs: null, status: 'completed' },
  ],
  [/file_search/, { type: 'file_search_call', queries: ['a'], results: null, status: 'completed' }],
  [/image_gen/, { type: 'image_generation_call', result: 'aGk=', status: 'completed' }],
  [/mcp_list/, { type: 'mcp_list_tools', server_label: 'one', tools: [] }],
  [/mcp_call/, { type: 'mcp_call', server_label: 'one', name: 'lookup', arguments: '{}', output: 'a' }],
  [/web_search/, { type: 'web_search_call', action: { type: 'search', query: 'a' }, status: 'completed' }],
  [/custom_tool/, { type: 'custom_tool_call', call_id: 'call_1', name: 'lookup', input: 'a' }],
  [/function_call/, { type: 'function_call', call_id: 'call_1', name: 'lookup', arguments: '{}' }],
  [
    /shell_call_output/,
    {
      type: 'shell_call_output',
      call_id: 'call_1',
      max_output_length: null,
      output: [],
      status: 'completed',
    },
  ],
  [
    /shell_call/,
    { type: 'shell_call', call_id: 'call_1', action: { commands: ['ls'] }, status: 'completed' },
  ],
  [
    /apply_patch/,
    {
      type: 'apply_patch_call',
      call_id: 'call_1',
      operation: { type: 'update_file', path: 'a', diff: 'a' },
      status: 'completed',
    },
  ],
  [/compaction/, { type: 'compaction', encrypted_content: 'a' }],
  [
    /reasoning/,
    {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'a' }],
      content: [],
      encrypted_content: null,
    },
  ],
];

const IN_EVENTS = new Set(['item', 'response']);

/** Members that an SDK adds to an answer. */
const OF_THE_SDK = new Set(['sdkHttpResponse', 'automaticFunctionCallingHistory']);

/** Members of a response that repeat its request. */
const ECHOES = new Set([
  'background',
  'conversation',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'previous_response_id',
  'prompt',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'safety_identifier',
  'store',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
]);

/** Events after which nothing comes. */
const LAST_EVENTS = new Set(['response.failed', 'response.incomplete', 'error']);

const RESPONSES: AnswerFormat = {
  plain: PLAIN_RESPONSE,
  baseFor: () => PLAIN_RESPONSE.body,
  complete: (body) => body,
  anchors: { output: PLAIN_RESPONSE.body.output as Json[] },
  // Whole responses and items in events are those of whole answers.
  isEcho: (owner, member) =>
    owner === '' ? ECHOES.has(member) : owner.startsWith('response.') && IN_EVENTS.has(member),
  whole(body) {
    const { output, usage, ...given } = body as any;
    const rest = given.incomplete_details === null ? given : { ...given, status: 'incomplete' };
    const { frames } = responsesAnswer(output, rest, usage);
    const events = eventsOf(frames);
    // The builder gives every item an id and a status of its own: here an item is what its type says.
    const whole = { ...rest, output, usage };
    return {
      body: whole,
      frames: typedFrames([...events.slice(0, -1), { ...events.at(-1), response: whole }]),
    };
  },
  withEvent(event, places) {
    const base = eventsOf(PLAIN_RESPONSE.frames);
    const type = String(event.type);
    if (LAST_EVENTS.has(type)) {
      const last = base.at(-1) as JsonObject;
      const response = { ...(last.response as JsonObject), status: type.slice('response.'.length) };
      const ended = graft(type === 'error' ? event : { ...last, type, response }, event, places);
      return numbered([...base.slice(0, -1), ended]);
    }
    if (base.some((each) => each.type === type)) {
      return numbered(base.map((each) => (each.type === type ? graft(each, event, places) : each)));
    }
    if (type === 'response.queued') return numbered([...base.slice(0, 1), event, ...base.slice(1)]);
    if (type.startsWith('response.output_text.')) {
      const delta = base.findIndex((each) => each.type === 'response.output_text.delta');
      const { item_id, output_index, content_index } = base[delta] as any;
      const placed = { ...event, item_id, output_index, content_index };
      return numbered([...base.slice(0, delta + 1), placed, ...base.slice(delta + 1)]);
    }
    const item = ITEMS.find(([begins]) => begins.test(type))?.[1];
    if (item === undefined) return numbered([...base.slice(0, -1), event, ...base.slice(-1)]);
    const whole = { id: 'item_1', ...item };
    const last = base.at(-1) as any;
    return numbered([
      ...base.slice(0, -1),
      { type: 'response.output_item.added', output_index: 1, item: { ...whole, status: 'in_progress' } },
      { ...event, item_id: 'item_1', output_index: 1 },
      { type: 'response.output_item.done', output_index: 1, item: whole },
      { ...last, response: { ...last.response, output: [...last.response.output, whole] } },
    ]);
  },
};

function numbered(events: readonly JsonObject[]): Frame[] {
  return typedFrames(events.map((event, sequence_number) => ({ ...event, sequence_number })));
}

/* chat */

const PLAIN_COMPLETION = chatAnswer({ content: 'Hi' });

const CHAT: AnswerFormat = {
  plain: PLAIN_COMPLETION,
  baseFor: () => PLAIN_COMPLETION.body,
  complete: (body) => body,
  anchors: {},
  isEcho: () => false,
  whole(body) {
    const { choices, usage, id, object, created, model, ...more } = body as any;
    const { message, ...choice } = choices[0];
    return { body, frames: chatAnswer(message, choice, usage, more).frames };
  },
  withEvent(event, places) {
    const chunks = eventsOf(PLAIN_COMPLETION.frames);
    const isAbout = (name: string) => places.some((place) => place.includes(name));
    const fallback = chunks.findIndex(({ choices }: any) => choices[0]?.delta.content === 'Hi');
    const finish = chunks.findIndex(({ choices }: any) => choices[0]?.finish_reason === 'stop');
    const index = isAbout('usage') ? chunks.length - 1 : isAbout('finish_reason') ? finish : fallback;
    const grafted = chunks.map((chunk, each) => (each === index ? graft(chunk, event, places) : chunk));
    return [...grafted.map((chunk) => ({ data: JSON.stringify(chunk) })), { data: '[DONE]' }];
  },
};

/* gemini */

const PLAIN_CONTENT = geminiAnswer([{ text: 'Hi' }]);

const GEMINI: AnswerFormat = {
  plain: PLAIN_CONTENT,
  baseFor(name) {
    const { candidates, ...blocked } = PLAIN_CONTENT.body;
    return name.startsWith('promptFeedback') ? blocked : PLAIN_CONTENT.body;
  },
  complete: (body) => body,
  anchors: { parts: [{ text: 'Hi' }] },
  isEcho: (owner, member) => owner === '' && OF_THE_SDK.has(member),
  whole: (body) => ({ body, frames: PLAIN_CONTENT.frames }),
  withEvent: () => [],
};

/* bedrock */

const PLAIN_CONVERSE = bedrockAnswer([{ text: 'Hi' }]);

const BEDROCK: AnswerFormat = {
  plain: PLAIN_CONVERSE,
  baseFor: () => PLAIN_CONVERSE.body,
  complete: (body) => body,
  anchors: { content: [{ text: 'Hi' }] },
  isEcho: () => false,
  whole: (body) => ({ body, frames: PLAIN_CONVERSE.frames }),
  withEvent: () => [],
};

export const ANSWER_FORMATS: Readonly<Record<DialectName, AnswerFormat>> = {
  messages: MESSAGES,
  responses: RESPONSES,
  chat: CHAT,
  gemini: GEMINI,
  bedrock: BEDROCK,
};
