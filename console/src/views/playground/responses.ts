import { type Answer, withCallPiece } from './answer.ts';
import type { Draft, Tool, Turn } from './conversation.ts';
import type { Format } from './format.ts';

export const responses: Format = {
  name: 'responses',
  title: 'responses',
  path: '/responses',
  body: ({ model, system, turns, tools, settings }: Draft) => ({
    model,
    ...(system !== '' && { instructions: system }),
    input: turns.flatMap(itemsOf),
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(settings.effort !== undefined && { reasoning: { effort: settings.effort } }),
    ...(settings.maxTokens !== undefined && { max_output_tokens: settings.maxTokens }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.topP !== undefined && { top_p: settings.topP }),
    ...(settings.provider !== undefined && { provider: settings.provider }),
    stream: true,
  }),
  read,
};

function toolOf({ name, description, parameters }: Tool) {
  return { type: 'function', name, ...(description !== undefined && { description }), parameters };
}

function itemsOf(turn: Turn): readonly unknown[] {
  if (turn.role === 'tool')
    return [{ type: 'function_call_output', call_id: turn.callId, output: turn.text }];
  if (turn.role === 'user') {
    if (turn.pictures.length === 0) return [{ role: 'user', content: turn.text }];
    const pictures = turn.pictures.map(({ url }) => ({ type: 'input_image', image_url: url }));
    return [{ role: 'user', content: [{ type: 'input_text', text: turn.text }, ...pictures] }];
  }
  if (turn.native?.format === 'responses') return turn.native.value;
  return [
    ...(turn.text === '' ? [] : [{ role: 'assistant', content: turn.text }]),
    ...turn.calls.map(({ id, name, arguments: json }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: json,
    })),
  ];
}

interface OutputItem {
  readonly type?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly result?: string | null;
  readonly output_format?: string;
}

interface Event {
  readonly type: string;
  readonly delta?: string;
  readonly item?: OutputItem;
  readonly message?: string;
  readonly response?: {
    readonly output?: readonly OutputItem[];
    readonly error?: { readonly message?: string } | null;
    readonly usage?: {
      readonly input_tokens: number;
      readonly output_tokens: number;
      readonly output_tokens_details?: { readonly reasoning_tokens?: number };
      readonly cost?: number;
    } | null;
  };
}

type Reader = (answer: Answer, event: Event) => Answer;

const READERS: Readonly<Record<string, Reader>> = {
  'response.output_text.delta': (answer, { delta = '' }) => ({ ...answer, text: answer.text + delta }),
  'response.refusal.delta': (answer, { delta = '' }) => ({ ...answer, text: answer.text + delta }),
  'response.reasoning_text.delta': withReasoning,
  'response.reasoning_summary_text.delta': withReasoning,
  'response.output_item.added': (answer, { item }) =>
    item?.type === 'function_call'
      ? {
          ...answer,
          calls: withCallPiece(answer.calls, answer.calls.length, { id: item.call_id, name: item.name }),
        }
      : answer,
  'response.function_call_arguments.delta': (answer, { delta = '' }) => ({
    ...answer,
    calls: withCallPiece(answer.calls, answer.calls.length - 1, { arguments: delta }),
  }),
  'response.output_item.done': (answer, { item }) =>
    item?.type === 'image_generation_call' && typeof item.result === 'string'
      ? { ...answer, pictures: [...answer.pictures, pictureOf(item.result, item.output_format)] }
      : answer,
  'response.completed': ended,
  'response.incomplete': ended,
  'response.failed': ended,
  error: (answer, { message }) => ({ ...answer, failure: message ?? 'The stream failed.' }),
};

function read(answer: Answer, event: unknown): Answer {
  const { type } = event as Event;
  return READERS[type]?.(answer, event as Event) ?? answer;
}

function withReasoning(answer: Answer, { delta = '' }: Event): Answer {
  return { ...answer, reasoning: answer.reasoning + delta };
}

/** Results are base64, or data URLs already. */
function pictureOf(result: string, format = 'png'): string {
  return result.startsWith('data:') ? result : `data:image/${format};base64,${result}`;
}

function ended(answer: Answer, { response }: Event): Answer {
  const usage = response?.usage;
  return {
    ...answer,
    native: response?.output ?? [],
    failure: response?.error?.message ?? answer.failure,
    usage:
      usage === undefined || usage === null
        ? null
        : {
            promptTokens: usage.input_tokens,
            completionTokens: usage.output_tokens,
            reasoningTokens: usage.output_tokens_details?.reasoning_tokens ?? 0,
            costUsd: usage.cost ?? null,
          },
  };
}
