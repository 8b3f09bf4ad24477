import { type Answer, withCallPiece } from './answer.ts';
import type { AssistantTurn, Draft, Tool, Turn } from './conversation.ts';
import type { Format } from './format.ts';

export const chat: Format = {
  name: 'chat',
  title: 'chat completions',
  path: '/chat/completions',
  body: ({ model, system, turns, tools, settings }: Draft) => ({
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...turns.map(messageOf)],
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(settings.effort !== undefined && { reasoning: { effort: settings.effort } }),
    ...(settings.maxTokens !== undefined && { max_tokens: settings.maxTokens }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.topP !== undefined && { top_p: settings.topP }),
    ...(settings.provider !== undefined && { provider: settings.provider }),
    stream: true,
  }),
  read,
};

function toolOf({ name, description, parameters }: Tool) {
  return {
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters },
  };
}

function messageOf(turn: Turn): unknown {
  if (turn.role === 'tool') return { role: 'tool', tool_call_id: turn.callId, content: turn.text };
  if (turn.role === 'assistant') return assistantMessage(turn);
  if (turn.pictures.length === 0) return { role: 'user', content: turn.text };
  const pictures = turn.pictures.map(({ url }) => ({ type: 'image_url', image_url: { url } }));
  return { role: 'user', content: [{ type: 'text', text: turn.text }, ...pictures] };
}

function assistantMessage({ text, calls, native }: AssistantTurn) {
  const details = native?.format === 'chat' ? native.value : [];
  return {
    role: 'assistant',
    content: text,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: json }) => ({
        id,
        type: 'function',
        function: { name, arguments: json },
      })),
    }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}

/** Reasoning in pieces; pieces with one index belong together. */
interface ReasoningDetail {
  readonly type: string;
  readonly index?: number;
  readonly text?: string;
  readonly summary?: string;
}

interface Chunk {
  readonly provider?: string;
  readonly error?: { readonly message?: string };
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly reasoning?: string | null;
      readonly reasoning_details?: readonly ReasoningDetail[];
      readonly images?: readonly { readonly image_url?: { readonly url?: string } }[];
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    };
  }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly completion_tokens_details?: { readonly reasoning_tokens?: number };
    readonly cost?: number;
  };
}

function read(answer: Answer, event: unknown): Answer {
  const { provider, error, choices, usage } = event as Chunk;
  const delta = choices?.[0]?.delta ?? {};
  return {
    text: answer.text + (delta.content ?? ''),
    reasoning: answer.reasoning + (delta.reasoning ?? ''),
    calls: (delta.tool_calls ?? []).reduce(
      (calls, { index, id, function: piece }) => withCallPiece(calls, index, { id, ...piece }),
      answer.calls,
    ),
    pictures: [
      ...answer.pictures,
      ...(delta.images ?? []).flatMap(({ image_url: image }) =>
        image?.url === undefined ? [] : [image.url],
      ),
    ],
    provider: provider ?? answer.provider,
    failure: error?.message ?? answer.failure,
    native: (delta.reasoning_details ?? []).reduce(withDetail, answer.native as readonly ReasoningDetail[]),
    usage:
      usage === undefined
        ? answer.usage
        : {
            promptTokens: usage.prompt_tokens,
            completionTokens: usage.completion_tokens,
            reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
            costUsd: usage.cost ?? null,
          },
  };
}

function withDetail(details: readonly ReasoningDetail[], piece: ReasoningDetail): readonly ReasoningDetail[] {
  const last = details.at(-1);
  if (last === undefined || last.index !== piece.index || last.type !== piece.type)
    return [...details, piece];
  const next = {
    ...last,
    ...piece,
    ...(piece.text !== undefined && { text: (last.text ?? '') + piece.text }),
    ...(piece.summary !== undefined && { summary: (last.summary ?? '') + piece.summary }),
  };
  return [...details.slice(0, -1), next];
}
