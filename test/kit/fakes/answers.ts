import { end, head, JSON_TYPE, type Script, type Split, SSE, write } from './fake-upstream.ts';

/** Ready-made answers in the three wire formats. The request decides whether one streams. */
export interface AnswerContent {
  readonly text?: string;
  /** Thoughts, with the format's own kind of seal. */
  readonly reasoning?: string;
  readonly tools?: readonly { readonly name: string; readonly arguments: string; readonly id?: string }[];
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number };
  readonly model?: string;
  readonly finish?: 'stop' | 'length';
  /** How the bytes are cut into writes. */
  readonly split?: Split;
  /** Characters of a delta; undefined = a text has three deltas or fewer. */
  readonly deltaLength?: number;
}

type Frame = { readonly event?: string | undefined; readonly data: unknown };

/** The bytes of a stream. */
export function sse(frames: readonly Frame[]): string {
  return frames
    .map(({ event, data }) => {
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
    })
    .join('');
}

/** An answer of an openai-chat upstream. */
export function chatAnswer(content: AnswerContent): Script {
  return scriptOf(content, chatFrames(content), chatBody(content));
}

/** An answer of an openai-responses upstream. */
export function responsesAnswer(content: AnswerContent): Script {
  return scriptOf(content, responsesFrames(content), responsesBody(content));
}

/** An answer of an anthropic-messages upstream. */
export function messagesAnswer(content: AnswerContent): Script {
  return scriptOf(content, messagesFrames(content), messagesBody(content));
}

function scriptOf(content: AnswerContent, frames: readonly Frame[], body: unknown): Script {
  return (request) =>
    request.json?.stream === true
      ? [head(200, SSE), write(sse(frames), content.split), end()]
      : [head(200, JSON_TYPE), write(JSON.stringify(body), content.split), end()];
}

const CREATED = 1_760_000_000;

function deltas(text: string, { deltaLength }: AnswerContent): string[] {
  const characters = Array.from(text);
  const size = deltaLength ?? Math.max(Math.ceil(characters.length / 3), 1);
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  );
}

function callIds(content: AnswerContent, prefix: string) {
  return (content.tools ?? []).map((tool, index) => ({ ...tool, id: tool.id ?? `${prefix}_${index + 1}` }));
}

/* chat */

function chatUsage({ usage = { input: 11, output: 7 } }: AnswerContent) {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

function chatFinish(content: AnswerContent): string {
  return content.finish === 'length' ? 'length' : content.tools === undefined ? 'stop' : 'tool_calls';
}

/** The frames of a chat stream, `[DONE]` included. */
export function chatFrames(content: AnswerContent): Frame[] {
  const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
    data: {
      id: 'chatcmpl-fake',
      object: 'chat.completion.chunk',
      created: CREATED,
      model: content.model ?? 'fake-model',
      choices: [{ index: 0, delta, finish_reason }],
      ...more,
    },
  });
  const calls = callIds(content, 'call').flatMap((tool, index) => [
    chunk({
      tool_calls: [{ index, id: tool.id, type: 'function', function: { name: tool.name, arguments: '' } }],
    }),
    ...deltas(tool.arguments, content).map((text) =>
      chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
    ),
  ]);
  return [
    chunk({ role: 'assistant', content: '' }),
    ...deltas(content.reasoning ?? '', content).map((text) => chunk({ reasoning_content: text })),
    ...deltas(content.text ?? '', content).map((text) => chunk({ content: text })),
    ...calls,
    chunk({}, chatFinish(content)),
    {
      data: {
        id: 'chatcmpl-fake',
        object: 'chat.completion.chunk',
        created: CREATED,
        model: content.model ?? 'fake-model',
        choices: [],
        usage: chatUsage(content),
      },
    },
    { data: '[DONE]' },
  ];
}

/** A whole chat completion. */
export function chatBody(content: AnswerContent) {
  const tools = callIds(content, 'call');
  return {
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: CREATED,
    model: content.model ?? 'fake-model',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content.text ?? null,
          ...(content.reasoning !== undefined && { reasoning_content: content.reasoning }),
          ...(tools.length > 0 && {
            tool_calls: tools.map((tool) => ({
              id: tool.id,
              type: 'function',
              function: { name: tool.name, arguments: tool.arguments },
            })),
          }),
        },
        finish_reason: chatFinish(content),
      },
    ],
    usage: chatUsage(content),
  };
}

/* responses */

function responsesItems(content: AnswerContent): Record<string, any>[] {
  const status = content.finish === 'length' ? 'incomplete' : 'completed';
  return [
    ...(content.reasoning === undefined
      ? []
      : [
          {
            id: 'rs_fake',
            type: 'reasoning',
            summary: [{ type: 'summary_text', text: content.reasoning }],
            encrypted_content: 'sealed-by-fake',
          },
        ]),
    ...(content.text === undefined
      ? []
      : [
          {
            id: 'msg_fake',
            type: 'message',
            role: 'assistant',
            status,
            content: [{ type: 'output_text', text: content.text, annotations: [], logprobs: [] }],
          },
        ]),
    ...callIds(content, 'call').map((tool, index) => ({
      id: `fc_fake_${index}`,
      type: 'function_call',
      call_id: tool.id,
      name: tool.name,
      arguments: tool.arguments,
      status: 'completed',
    })),
  ];
}

/** A whole response object. */
export function responsesBody(content: AnswerContent): Record<string, any> {
  const { input, output, cached = 0 } = content.usage ?? { input: 11, output: 7 };
  const cut = content.finish === 'length';
  return {
    id: 'resp_fake',
    object: 'response',
    created_at: CREATED,
    status: cut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
    instructions: null,
    max_output_tokens: null,
    model: content.model ?? 'fake-model',
    output: responsesItems(content),
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    metadata: {},
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  };
}

/** The frames of a responses stream. */
export function responsesFrames(content: AnswerContent): Frame[] {
  const frames: Frame[] = [];
  const push = (type: string, fields: object) => {
    frames.push({ event: type, data: { type, sequence_number: frames.length, ...fields } });
  };
  const whole = responsesBody(content);
  const begun = { ...whole, status: 'in_progress', output: [], usage: null, incomplete_details: null };
  push('response.created', { response: begun });
  push('response.in_progress', { response: begun });
  for (const [output_index, item] of responsesItems(content).entries()) {
    const at = { item_id: item.id, output_index };
    if (item.type === 'reasoning') {
      const text: string = item.summary[0].text;
      const part = { ...at, summary_index: 0 };
      push('response.output_item.added', { output_index, item: { ...item, summary: [] } });
      push('response.reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } });
      for (const delta of deltas(text, content))
        push('response.reasoning_summary_text.delta', { ...part, delta });
      push('response.reasoning_summary_text.done', { ...part, text });
      push('response.reasoning_summary_part.done', { ...part, part: { type: 'summary_text', text } });
    } else if (item.type === 'message') {
      const block = item.content[0];
      const part = { ...at, content_index: 0 };
      push('response.output_item.added', {
        output_index,
        item: { ...item, status: 'in_progress', content: [] },
      });
      push('response.content_part.added', { ...part, part: { ...block, text: '' } });
      for (const delta of deltas(block.text, content)) {
        push('response.output_text.delta', { ...part, delta, logprobs: [] });
      }
      push('response.output_text.done', { ...part, text: block.text, logprobs: [] });
      push('response.content_part.done', { ...part, part: block });
    } else {
      push('response.output_item.added', {
        output_index,
        item: { ...item, status: 'in_progress', arguments: '' },
      });
      for (const delta of deltas(item.arguments, content)) {
        push('response.function_call_arguments.delta', { ...at, delta });
      }
      push('response.function_call_arguments.done', { ...at, name: item.name, arguments: item.arguments });
    }
    push('response.output_item.done', { output_index, item });
  }
  push(content.finish === 'length' ? 'response.incomplete' : 'response.completed', { response: whole });
  return frames;
}

/* messages */

function messagesStop(content: AnswerContent): string {
  return content.finish === 'length' ? 'max_tokens' : content.tools === undefined ? 'end_turn' : 'tool_use';
}

function messagesBlocks(content: AnswerContent): Record<string, any>[] {
  return [
    ...(content.reasoning === undefined
      ? []
      : [{ type: 'thinking', thinking: content.reasoning, signature: 'sealed-by-fake' }]),
    ...(content.text === undefined ? [] : [{ type: 'text', text: content.text }]),
    ...callIds(content, 'toolu').map((tool) => ({
      type: 'tool_use',
      id: tool.id,
      name: tool.name,
      input: JSON.parse(tool.arguments),
    })),
  ];
}

function messagesUsage({ usage = { input: 11, output: 7 } }: AnswerContent) {
  return {
    input_tokens: usage.input - (usage.cached ?? 0),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cached ?? 0,
    output_tokens: usage.output,
  };
}

/** A whole message. */
export function messagesBody(content: AnswerContent): Record<string, any> {
  return {
    id: 'msg_fake',
    type: 'message',
    role: 'assistant',
    model: content.model ?? 'fake-model',
    content: messagesBlocks(content),
    stop_reason: messagesStop(content),
    stop_sequence: null,
    usage: messagesUsage(content),
  };
}

/** The frames of a messages stream. */
export function messagesFrames(content: AnswerContent): Frame[] {
  const frame = (type: string, fields: object = {}): Frame => ({ event: type, data: { type, ...fields } });
  const usage = messagesUsage(content);
  const tools = callIds(content, 'toolu');
  const blocks = messagesBlocks(content).flatMap((block, index) => {
    const delta = (fields: object) => frame('content_block_delta', { index, delta: fields });
    const start = (fields: object) =>
      frame('content_block_start', { index, content_block: { ...block, ...fields } });
    const stop = frame('content_block_stop', { index });
    if (block.type === 'thinking') {
      return [
        start({ thinking: '', signature: '' }),
        ...deltas(block.thinking, content).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ];
    }
    if (block.type === 'text') {
      return [
        start({ text: '' }),
        ...deltas(block.text, content).map((text) => delta({ type: 'text_delta', text })),
        stop,
      ];
    }
    const written = tools.find((tool) => tool.id === block.id)?.arguments ?? '{}';
    return [
      start({ input: {} }),
      ...deltas(written, content).map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
      stop,
    ];
  });
  return [
    frame('message_start', {
      message: {
        ...messagesBody(content),
        content: [],
        stop_reason: null,
        usage: { ...usage, output_tokens: 0 },
      },
    }),
    frame('ping'),
    ...blocks,
    frame('message_delta', {
      delta: { stop_reason: messagesStop(content), stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    }),
    frame('message_stop'),
  ];
}
