import type { EventBatch } from '../../ir/events.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';

/** The failure with the text of the upstream as it may be passed on. */
export async function passedFailure(
  failure: UpstreamFailure,
  { watch }: GenerationRequest,
): Promise<UpstreamFailure> {
  if (watch === undefined) return failure;
  const passed = await watch.passedError(failure);
  return passed === failure ? failure : failure.inWords(passed.message, passed.metadata);
}

/** The batch, where a failure at its end has the text of the upstream as it may be passed on. */
export async function passedBatch(batch: EventBatch, request: GenerationRequest): Promise<EventBatch> {
  const failure = failureIn(batch);
  if (failure === undefined) return batch;
  return [...batch.slice(0, -1), { type: 'failure', error: await passedFailure(failure, request) }];
}

export function failureIn(batch: EventBatch): UpstreamFailure | undefined {
  const last = batch.at(-1);
  return last?.type === 'failure' && last.error instanceof UpstreamFailure ? last.error : undefined;
}
