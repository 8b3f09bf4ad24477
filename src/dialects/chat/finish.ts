import type { Finish, FinishReason } from '../../ir/events.ts';

/** How an answer ended, both ways. */

/** Words of chat upstreams. What is not listed is an ordinary stop. */
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

/** Words that end an answer in failure. */
export const FAILURE_REASONS: ReadonlySet<string> = new Set(['error', 'insufficient_system_resource']);

/** What an answer turned out to hold: it says more about the end than the upstream's word. */
export interface AnswerContents {
  readonly hasCalls: boolean;
  readonly hasRefusal: boolean;
}

/** Reads the upstream's word; undefined = it gave none. */
export function readFinish(word: string | undefined, contents: AnswerContents): FinishReason {
  const reason = (word === undefined ? undefined : REASONS.get(word)) ?? 'stop';
  if (reason === 'stop' && contents.hasCalls) return 'tool-calls';
  if (reason === 'stop' && contents.hasRefusal) return 'refusal';
  return reason === 'tool-calls' && !contents.hasCalls ? 'stop' : reason;
}

const WORDS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  refusal: 'content_filter',
  pause: 'stop',
  compaction: 'stop',
  budget: 'length',
};

/** What decides about the caller's word besides the reason. */
export interface FinishAudience {
  /** The model declined in words of its own: in this format an ordinary stop. */
  readonly hasRefusal: boolean;
  /** The caller declared `functions` and knows nothing of tool calls. */
  readonly isLegacy: boolean;
}

/** The caller's word. */
export function renderFinish({ reason }: Pick<Finish, 'reason'>, audience: FinishAudience): string {
  if (reason === 'refusal' && audience.hasRefusal) return 'stop';
  return reason === 'tool-calls' && audience.isLegacy ? 'function_call' : WORDS[reason];
}
