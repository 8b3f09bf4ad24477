import { awsEvent, awsException } from '../fixtures/bedrock/aws-events.ts';
import { sse } from './answers.ts';
import { type BilledDialect, type Done, DRAWN_INPUT, outputOf, TASK } from './billed-work.ts';
import { SSE } from './fake-upstream.ts';

/** A dialect's bytes for a piece of work. */
interface Wire {
  readonly head: Record<string, string>;
  body(work: Done): object;
  /** `beginning`: up to the last word. `ending`: the usage and the end. `failing`: a failure instead. */
  frames(work: Done): Readonly<Record<'beginning' | 'ending' | 'failing', readonly Frame[]>>;
}

type Frame = string | Uint8Array;

const wordsOf = ({ visible, how }: Done): string[] =>
  how === 'refuse' || how === 'empty' ? [] : Array.from({ length: visible }, (_, index) => `word${index} `);

/** Calls of the tool that asks another model. Their arguments are those of every such tool. */
const callsOf = ({ tasks, tool }: Done) =>
  Array.from({ length: tasks }, (_, index) => ({ id: `call_${index}`, name: tool, input: ARGUMENTS }));

const ARGUMENTS = { prompt: TASK, task_name: TASK, task_description: TASK };
const ARGUMENTS_TEXT = JSON.stringify(ARGUMENTS);

const event = (name: string, data: object): string => sse([{ event: name, data: { type: name, ...data } }]);
const data = (value: unknown): string => sse([{ data: value }]);

const CHAT = { id: 'chatcmpl-billed', created: 1_790_000_000, model: 'one' };

const chat: Wire = {
  head: SSE,
  body: (work) => ({
    ...CHAT,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: wordsOf(work).join('') || null,
          ...(work.tasks > 0 && { tool_calls: chatCalls(work) }),
        },
        finish_reason: chatFinish(work),
      },
    ],
    usage: chatUsage(work),
  }),
  frames: (work) => {
    const chunk = (delta: object, finish: string | null = null) =>
      data({
        ...CHAT,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    return {
      beginning: [
        chunk({ role: 'assistant', content: '' }),
        ...wordsOf(work).map((content) => chunk({ content })),
        ...chatCalls(work).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
      ],
      ending: [
        chunk({}, chatFinish(work)),
        data({ ...CHAT, object: 'chat.completion.chunk', choices: [], usage: chatUsage(work) }),
        data('[DONE]'),
      ],
      failing: [data({ error: { message: 'it failed', type: 'server_error', code: 500 } })],
    };
  },
};

function chatFinish({ how, tasks }: Done): string {
  return how === 'refuse' ? 'content_filter' : tasks > 0 ? 'tool_calls' : 'stop';
}

function chatCalls(work: Done) {
  return callsOf(work).map(({ id, name }) => ({
    id,
    type: 'function',
    function: { name, arguments: ARGUMENTS_TEXT },
  }));
}

function chatUsage(work: Done) {
  return {
    prompt_tokens: work.input,
    completion_tokens: outputOf(work),
    total_tokens: work.input + outputOf(work),
    prompt_tokens_details: { cached_tokens: work.cached, cache_write_tokens: work.written },
    completion_tokens_details: { reasoning_tokens: work.hidden },
  };
}

const responses: Wire = {
  head: SSE,
  body: responsesBody,
  frames: (work) => {
    const whole = responsesBody(work);
    const begun = { ...whole, status: 'in_progress', output: [], usage: null };
    let number = 0;
    const numbered = (name: string, fields: object) => event(name, { sequence_number: number++, ...fields });
    const items = toolItems(work);
    const tools = items.flatMap((item, output_index) => [
      numbered('response.output_item.added', { output_index, item: { ...item, status: 'in_progress' } }),
      numbered('response.output_item.done', { output_index, item }),
    ]);
    const message = messageItem(work);
    const at = { item_id: 'msg_billed', output_index: items.length, content_index: 0 };
    const opening =
      message === undefined
        ? []
        : [
            numbered('response.output_item.added', {
              output_index: items.length,
              item: { ...message, status: 'in_progress', content: [] },
            }),
            numbered('response.content_part.added', { ...at, part: { ...message.content[0], text: '' } }),
            ...wordsOf(work).map((delta) =>
              numbered('response.output_text.delta', { ...at, delta, logprobs: [] }),
            ),
          ];
    const closing =
      message === undefined
        ? []
        : [
            numbered('response.content_part.done', { ...at, part: message.content[0] }),
            numbered('response.output_item.done', { output_index: items.length, item: message }),
          ];
    const called = responsesCalls(work).flatMap((item, index) => {
      const output_index = items.length + (message === undefined ? 0 : 1) + index;
      return [
        numbered('response.output_item.added', { output_index, item: { ...item, arguments: '' } }),
        numbered('response.function_call_arguments.delta', {
          item_id: item.id,
          output_index,
          delta: ARGUMENTS_TEXT,
        }),
        numbered('response.output_item.done', { output_index, item }),
      ];
    });
    return {
      beginning: [numbered('response.created', { response: begun }), ...tools, ...opening],
      ending: [
        ...closing,
        ...called,
        numbered(work.how === 'refuse' ? 'response.incomplete' : 'response.completed', { response: whole }),
      ],
      failing: [numbered('response.failed', { response: whole })],
    };
  },
};

function toolItems({ searches, drawn, runsCode }: Done) {
  const status = 'completed';
  return [
    ...Array.from({ length: searches }, (_, index) => ({
      id: `ws_${index}`,
      type: 'web_search_call',
      status,
      action: { type: 'search', query: 'news' },
    })),
    ...(runsCode
      ? [
          {
            id: 'ci_1',
            type: 'code_interpreter_call',
            status,
            container_id: 'cntr_1',
            code: '1',
            outputs: [],
          },
        ]
      : []),
    ...(drawn > 0 ? [{ id: 'ig_1', type: 'image_generation_call', status, result: PICTURE }] : []),
  ];
}

function responsesCalls(work: Done) {
  return callsOf(work).map(({ id: call_id, name }) => ({
    id: `fc_${call_id}`,
    type: 'function_call',
    status: 'completed',
    call_id,
    name,
    arguments: ARGUMENTS_TEXT,
  }));
}

/** A picture of one pixel. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function messageItem(work: Done) {
  const text = wordsOf(work).join('');
  if (text === '') return undefined;
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  return { id: 'msg_billed', type: 'message', role: 'assistant', status: 'completed', content };
}

function responsesBody(work: Done) {
  const refuses = work.how === 'refuse';
  const fails = work.how === 'fail';
  return {
    id: 'resp_billed',
    object: 'response',
    created_at: 1_790_000_000,
    status: refuses ? 'incomplete' : fails ? 'failed' : 'completed',
    incomplete_details: refuses ? { reason: 'content_filter' } : null,
    error: fails ? { code: 'server_error', message: 'it failed' } : null,
    model: 'one',
    output: [
      ...toolItems(work),
      ...[messageItem(work)].filter((item) => item !== undefined),
      ...responsesCalls(work),
    ],
    usage: {
      input_tokens: work.input,
      input_tokens_details: { cached_tokens: work.cached, cache_write_tokens: work.written },
      output_tokens: outputOf(work),
      output_tokens_details: { reasoning_tokens: work.hidden },
      total_tokens: work.input + outputOf(work),
    },
    ...(work.drawn > 0 && {
      tool_usage: { image_gen: { input_tokens: DRAWN_INPUT, output_tokens: work.drawn } },
    }),
  };
}

const messages: Wire = {
  head: SSE,
  body: (work) => ({
    ...messagesHead(work),
    content: [...toolBlocks(work), ...textBlocks(work), ...messagesCalls(work)],
    stop_reason: messagesStop(work),
    usage: messagesUsage(work),
  }),
  frames: (work) => {
    const blocks = toolBlocks(work);
    const texts = wordsOf(work);
    const index = blocks.length;
    return {
      beginning: [
        event('message_start', {
          message: {
            ...messagesHead(work),
            content: [],
            stop_reason: null,
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        }),
        ...blocks.flatMap((content_block, place) => [
          event('content_block_start', { index: place, content_block }),
          event('content_block_stop', { index: place }),
        ]),
        ...(texts.length === 0
          ? []
          : [event('content_block_start', { index, content_block: { type: 'text', text: '' } })]),
        ...texts.map((text) => event('content_block_delta', { index, delta: { type: 'text_delta', text } })),
      ],
      ending: [
        ...(texts.length === 0 ? [] : [event('content_block_stop', { index })]),
        ...messagesCalls(work).flatMap((call, place) => {
          const at = { index: index + 1 + place };
          return [
            event('content_block_start', { ...at, content_block: { ...call, input: {} } }),
            event('content_block_delta', {
              ...at,
              delta: { type: 'input_json_delta', partial_json: ARGUMENTS_TEXT },
            }),
            event('content_block_stop', at),
          ];
        }),
        event('message_delta', {
          delta: { stop_reason: messagesStop(work), stop_sequence: null },
          usage: messagesUsage(work),
        }),
        event('message_stop', {}),
      ],
      failing: [event('error', { error: { type: 'api_error', message: 'it failed' } })],
    };
  },
};

function messagesHead(_: Done) {
  return { id: 'msg_billed', type: 'message', role: 'assistant', model: 'one', stop_sequence: null };
}

function messagesStop({ how, tasks }: Done): string {
  return how === 'refuse' ? 'refusal' : tasks > 0 ? 'tool_use' : 'end_turn';
}

function messagesCalls(work: Done) {
  return callsOf(work).map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }));
}

function textBlocks(work: Done) {
  const text = wordsOf(work).join('');
  return text === '' ? [] : [{ type: 'text', text }];
}

function toolBlocks({ searches, runsCode }: Done) {
  const found = Array.from({ length: searches }, (_, index) => [
    { type: 'server_tool_use', id: `srvtoolu_${index}`, name: 'web_search', input: { query: 'news' } },
    { type: 'web_search_tool_result', tool_use_id: `srvtoolu_${index}`, content: [] },
  ]).flat();
  if (!runsCode) return found;
  const id = 'srvtoolu_code';
  const result = { type: 'code_execution_result', stdout: '1', stderr: '', return_code: 0, content: [] };
  return [
    ...found,
    { type: 'server_tool_use', id, name: 'code_execution', input: { code: '1' } },
    { type: 'code_execution_tool_result', tool_use_id: id, content: result },
  ];
}

function messagesUsage(work: Done) {
  return {
    input_tokens: work.input - work.cached - work.written,
    cache_creation_input_tokens: work.written,
    cache_read_input_tokens: work.cached,
    output_tokens: outputOf(work),
    server_tool_use: { web_search_requests: work.searches },
  };
}

const gemini: Wire = {
  head: SSE,
  body: (work) => geminiChunk(wordsOf(work).join(''), work, true),
  frames: (work) => ({
    beginning: wordsOf(work).map((word) => data(geminiChunk(word, work, false))),
    ending: [data(geminiChunk('', work, true))],
    failing: [data({ error: { code: 500, message: 'it failed', status: 'INTERNAL' } })],
  }),
};

function geminiChunk(text: string, work: Done, isLast: boolean) {
  const reason = work.how === 'refuse' ? 'SAFETY' : 'STOP';
  const words = wordsOf(work).length;
  const calls = callsOf(work).map(({ name, input }) => ({ functionCall: { name, args: input } }));
  return {
    candidates: [
      {
        content: { role: 'model', parts: [...(text === '' ? [] : [{ text }]), ...(isLast ? calls : [])] },
        index: 0,
        ...(isLast && { finishReason: reason }),
      },
    ],
    ...(isLast && {
      usageMetadata: {
        promptTokenCount: work.input,
        cachedContentTokenCount: work.cached,
        candidatesTokenCount: words,
        thoughtsTokenCount: work.hidden,
        totalTokenCount: work.input + words + work.hidden,
      },
    }),
    modelVersion: 'one',
    responseId: 'billed',
  };
}

const bedrock: Wire = {
  head: { 'content-type': 'application/vnd.amazon.eventstream' },
  body: (work) => ({
    output: { message: { role: 'assistant', content: bedrockContent(work) } },
    stopReason: bedrockStop(work),
    usage: bedrockUsage(work),
    metrics: { latencyMs: 12 },
  }),
  frames: (work) => {
    const words = wordsOf(work);
    const block = { contentBlockIndex: 0 };
    return {
      beginning: [
        awsEvent('messageStart', { role: 'assistant' }),
        ...words.map((text) => awsEvent('contentBlockDelta', { ...block, delta: { text } })),
      ],
      ending: [
        ...(words.length === 0 ? [] : [awsEvent('contentBlockStop', block)]),
        ...callsOf(work).flatMap(({ id: toolUseId, name }, place) => {
          const at = { contentBlockIndex: 1 + place };
          return [
            awsEvent('contentBlockStart', { ...at, start: { toolUse: { toolUseId, name } } }),
            awsEvent('contentBlockDelta', { ...at, delta: { toolUse: { input: ARGUMENTS_TEXT } } }),
            awsEvent('contentBlockStop', at),
          ];
        }),
        awsEvent('messageStop', { stopReason: bedrockStop(work) }),
        awsEvent('metadata', { usage: bedrockUsage(work), metrics: { latencyMs: 12 } }),
      ],
      failing: [awsException('internalServerException', { message: 'it failed' })],
    };
  },
};

function bedrockContent(work: Done) {
  const text = wordsOf(work).join('');
  const calls = callsOf(work).map(({ id: toolUseId, name, input }) => ({
    toolUse: { toolUseId, name, input },
  }));
  return [...(text === '' ? [] : [{ text }]), ...calls];
}

function bedrockStop({ how, tasks }: Done): string {
  return how === 'refuse' ? 'content_filtered' : tasks > 0 ? 'tool_use' : 'end_turn';
}

function bedrockUsage(work: Done) {
  return {
    inputTokens: work.input,
    outputTokens: outputOf(work),
    totalTokens: work.input + outputOf(work),
  };
}

export const BILLED_WIRES: Readonly<Record<BilledDialect, Wire>> = {
  chat,
  responses,
  messages,
  gemini,
  bedrock,
};
