import type { FinishReason } from '../../../ir/events.ts';

/** Finish reasons in the words of the chat format, which records have for answers of every format. */
export const FINISH_WORDS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  refusal: 'content_filter',
  // Not finished: clients of this format know no other word for it.
  pause: 'length',
  compaction: 'stop',
  budget: 'length',
};
