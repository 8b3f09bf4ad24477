import type { EventBatch } from '../../../src/ir/events.ts';
import type { PipelineEntry } from '../../../src/ir/metadata.ts';
import type { GenerationRequest } from '../../../src/ir/request.ts';
import type { Stage, StageContext } from '../../../src/stages/stage.ts';
import { requestOf } from './request.ts';

/** The context of a stage that only writes notes, and the notes; name what else the test needs. */
export function stageContextOf(changes: Partial<StageContext> = {}): {
  readonly context: StageContext;
  readonly notes: readonly PipelineEntry[];
} {
  const notes: PipelineEntry[] = [];
  const context = { note: (entry: PipelineEntry) => void notes.push(entry), now: () => 0, ...changes };
  return { context: context as StageContext, notes };
}

/** A request that asks for a plugin. */
export function pluginRequestOf(
  plugin: GenerationRequest['wishes']['plugins'][number],
  changes: Partial<GenerationRequest> = {},
): GenerationRequest {
  return requestOf({ body: { plugins: [plugin] }, wishes: { provider: {}, plugins: [plugin] }, ...changes });
}

/** All events of `around`, where the leg inside it has the given ones. */
export async function eventsAround(
  stage: Stage,
  request: GenerationRequest,
  leg: EventBatch,
  context: StageContext,
): Promise<EventBatch> {
  async function* next() {
    yield leg;
  }
  const events = [];
  for await (const batch of stage.around?.(request, next, context) ?? []) events.push(...batch);
  return events;
}
