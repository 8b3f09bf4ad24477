import type { Finish, FinishReason } from '../../ir/events.ts';
import { FINISH_WORDS } from '../shared/answers/finish-words.ts';

/** Finish reasons in both directions. */

// --- From the upstream ----------------------------------------------------------------------------------------------

/** Finish reasons of chat upstreams. Any other is an ordinary stop. */
const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['tool_use', 'tool-calls'],
  ['content_filter', 'content-filter'],
  ['safety', 'content-filter'],
  ['refusal', 'refusal'],
]);

export const FAILURE_REASONS: ReadonlySet<string> = new Set(['error', 'insufficient_system_resource']);

/** Content of the answer, which tells more about the end than the upstream's word. */
export interface AnswerContents {
  readonly hasCalls: boolean;
  readonly hasRefusal: boolean;
}

/** Reads the upstream's word; undefined = none. */
export function readFinish(word: string | undefined, contents: AnswerContents): FinishReason {
  const reason = (word === undefined ? undefined : REASONS.get(word)) ?? 'stop';
  if (reason === 'stop' && contents.hasCalls) return 'tool-calls';
  if (reason === 'stop' && contents.hasRefusal) return 'refusal';
  return reason === 'tool-calls' && !contents.hasCalls ? 'stop' : reason;
}

// --- For the caller -------------------------------------------------------------------------------------------------

/** Facts besides the reason that decide the caller's word. */
export interface FinishAudience {
  /** True if the model declined with a text of its own: in this format an ordinary stop. */
  readonly hasRefusal: boolean;
  /** True if the caller declared `functions` and reads no tool calls. */
  readonly isLegacy: boolean;
}

export function renderFinish({ reason }: Pick<Finish, 'reason'>, audience: FinishAudience): string {
  if (reason === 'refusal' && audience.hasRefusal) return 'stop';
  return reason === 'tool-calls' && audience.isLegacy ? 'function_call' : FINISH_WORDS[reason];
}
