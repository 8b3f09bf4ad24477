import type { AssistantTurn, FormatName, ToolCall } from './conversation.ts';

export interface AnswerUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
  readonly costUsd: number | null;
}

/** An answer as far as it has come. */
export interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
  /** Data URLs of pictures that the model made. */
  readonly pictures: readonly string[];
  readonly provider: string | null;
  readonly usage: AnswerUsage | null;
  /** What the answer failed with after it had begun. */
  readonly failure: string | null;
  /** Items to send back in the next turn; see AssistantTurn. */
  readonly native: readonly unknown[];
}

export const EMPTY_ANSWER: Answer = {
  text: '',
  reasoning: '',
  calls: [],
  pictures: [],
  provider: null,
  usage: null,
  failure: null,
  native: [],
};

/** Whether anything of it can be shown: the time of the first token. */
export function hasContent({ text, reasoning, calls, pictures }: Answer): boolean {
  return text !== '' || reasoning !== '' || calls.length > 0 || pictures.length > 0;
}

/** The answer as a turn of the conversation. One that broke off is sent as text: its items may lack their end. */
export function turnOf(answer: Answer, format: FormatName, isWhole: boolean): AssistantTurn {
  const { text, calls, native } = answer;
  return {
    role: 'assistant',
    text,
    calls,
    ...(isWhole && native.length > 0 && { native: { format, value: native } }),
  };
}

/** Adds a piece to the arguments of a call, which begins with its name. */
export function withCallPiece(
  calls: readonly ToolCall[],
  index: number,
  piece: {
    readonly id?: string | undefined;
    readonly name?: string | undefined;
    readonly arguments?: string;
  },
): readonly ToolCall[] {
  const before = calls[index] ?? { id: '', name: '', arguments: '' };
  const next = {
    id: piece.id ?? before.id,
    name: piece.name ?? before.name,
    arguments: before.arguments + (piece.arguments ?? ''),
  };
  return [...calls.slice(0, index), next, ...calls.slice(index + 1)];
}
