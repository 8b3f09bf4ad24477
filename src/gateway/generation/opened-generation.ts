import type { ReplyContext } from '../../dialects/dialect.ts';
import type { EventBatch } from '../../ir/events.ts';
import type { Result } from '../../ir/result.ts';
import type { FlowSource } from '../../kit/frames/flow.ts';

/** An answer whose first content has arrived: its serving endpoint is final. */
export interface OpenedStream {
  readonly context: ReplyContext;
  /** All events from the first on; ends with exactly one terminal event, which carries `settled`. */
  readonly batches: FlowSource<EventBatch>;
}

export interface FinishedGeneration {
  readonly context: ReplyContext;
  readonly result: Result;
}
