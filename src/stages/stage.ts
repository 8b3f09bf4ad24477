import type { EventBatch } from '../ir/events.ts';
import type { GenerationRequest } from '../ir/request.ts';

/** Answers a request: the rest of the pipeline, down to the upstream. Nothing runs until the answer is pulled. */
export type Next = (request: GenerationRequest) => AsyncIterable<EventBatch>;

/**
 * One step around a generation: guardrails, plugins and the tool loop all have this shape. A stage may change the
 * request on its way in and the events on their way out, or call `next` several times.
 */
export interface Stage {
  readonly name: string;
  /** Whether the stage has anything to do for this request. An active stage keeps the request off the relay lane. */
  isActive(request: GenerationRequest): boolean;
  run(request: GenerationRequest, next: Next): AsyncIterable<EventBatch>;
}

/** Wraps `core` in the stages, the first one outermost. */
export function composeStages(stages: readonly Stage[], core: Next): Next {
  return stages.reduceRight<Next>((next, stage) => (request) => stage.run(request, next), core);
}
