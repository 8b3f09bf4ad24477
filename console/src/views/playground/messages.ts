import { type Answer, withCallPiece } from './answer.ts';
import type { Draft, Effort, Picture, Tool, Turn } from './conversation.ts';
import type { Format } from './format.ts';

/** The format wants a limit in every request. */
const DEFAULT_MAX_TOKENS = 4_096;

export const messages: Format = {
  name: 'messages',
  title: 'messages',
  path: '/messages',
  body: ({ model, system, turns, tools, settings }: Draft) => ({
    model,
    max_tokens: settings.maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(system !== '' && { system }),
    messages: turns.map(messageOf),
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...reasoningOf(settings.effort),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.topP !== undefined && { top_p: settings.topP }),
    ...(settings.provider !== undefined && { provider: settings.provider }),
    stream: true,
  }),
  read,
};

function reasoningOf(effort: Effort | undefined) {
  if (effort === undefined) return {};
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  return { thinking: { type: 'adaptive' }, output_config: { effort: effort === 'minimal' ? 'low' : effort } };
}

function toolOf({ name, description, parameters }: Tool) {
  return { name, ...(description !== undefined && { description }), input_schema: parameters };
}

function messageOf(turn: Turn): unknown {
  if (turn.role === 'tool') {
    return { role: 'user', content: [{ type: 'tool_result', tool_use_id: turn.callId, content: turn.text }] };
  }
  if (turn.role === 'user') {
    if (turn.pictures.length === 0) return { role: 'user', content: turn.text };
    return { role: 'user', content: [...turn.pictures.map(imageOf), { type: 'text', text: turn.text }] };
  }
  if (turn.native?.format === 'messages') return { role: 'assistant', content: turn.native.value };
  return {
    role: 'assistant',
    content: [
      ...(turn.text === '' ? [] : [{ type: 'text', text: turn.text }]),
      ...turn.calls.map(({ id, name, arguments: json }) => ({
        type: 'tool_use',
        id,
        name,
        input: objectOf(json),
      })),
    ],
  };
}

function imageOf({ url }: Picture) {
  const [, media_type = 'image/png', data = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return { type: 'image', source: { type: 'base64', media_type, data } };
}

function objectOf(json: string): unknown {
  try {
    return JSON.parse(json === '' ? '{}' : json);
  } catch {
    return {};
  }
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
}

interface MessageUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number };
  readonly cost?: number;
}

interface Event {
  readonly type: string;
  readonly message?: { readonly provider?: string };
  readonly content_block?: Block;
  readonly delta?: {
    readonly type?: string;
    readonly text?: string;
    readonly thinking?: string;
    readonly signature?: string;
    readonly partial_json?: string;
  };
  readonly usage?: MessageUsage;
  readonly error?: { readonly message?: string };
}

type Reader = (answer: Answer, event: Event) => Answer;

const READERS: Readonly<Record<string, Reader>> = {
  message_start: (answer, { message }) => ({ ...answer, provider: message?.provider ?? null }),
  content_block_start: (answer, { content_block: block }) => {
    if (block === undefined) return answer;
    const native = [...answer.native, block];
    const text = answer.text + (block.type === 'text' ? (block.text ?? '') : '');
    if (block.type !== 'tool_use') return { ...answer, native, text };
    const call = { id: block.id, name: block.name };
    return { ...answer, native, calls: withCallPiece(answer.calls, answer.calls.length, call) };
  },
  content_block_delta: (answer, { delta = {} }) => ({
    ...answer,
    text: answer.text + (delta.text ?? ''),
    reasoning: answer.reasoning + (delta.thinking ?? ''),
    native: withLast(answer.native as readonly Block[], delta),
    ...(delta.partial_json !== undefined && {
      calls: withCallPiece(answer.calls, answer.calls.length - 1, { arguments: delta.partial_json }),
    }),
  }),
  content_block_stop: (answer) => {
    const last = answer.native.at(-1) as Block | undefined;
    if (last?.type !== 'tool_use') return answer;
    const input = objectOf(answer.calls.at(-1)?.arguments ?? '');
    return { ...answer, native: [...answer.native.slice(0, -1), { ...last, input }] };
  },
  message_delta: (answer, { usage }) => (usage === undefined ? answer : { ...answer, usage: usageOf(usage) }),
  error: (answer, { error }) => ({ ...answer, failure: error?.message ?? 'The stream failed.' }),
};

function read(answer: Answer, event: unknown): Answer {
  return READERS[(event as Event).type]?.(answer, event as Event) ?? answer;
}

/** Adds a piece to the last block, which is the one that is open. */
function withLast(blocks: readonly Block[], delta: NonNullable<Event['delta']>): readonly Block[] {
  const last = blocks.at(-1);
  if (last === undefined) return blocks;
  const next = {
    ...last,
    ...(delta.text !== undefined && { text: (last.text ?? '') + delta.text }),
    ...(delta.thinking !== undefined && { thinking: (last.thinking ?? '') + delta.thinking }),
    ...(delta.signature !== undefined && { signature: (last.signature ?? '') + delta.signature }),
  };
  return [...blocks.slice(0, -1), next];
}

function usageOf(usage: MessageUsage) {
  return {
    promptTokens:
      usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0),
    completionTokens: usage.output_tokens,
    reasoningTokens: usage.output_tokens_details?.thinking_tokens ?? 0,
    costUsd: usage.cost ?? null,
  };
}
