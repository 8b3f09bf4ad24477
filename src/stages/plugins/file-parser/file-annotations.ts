import { fileAnnotation, type ParsedFile } from '../../../dialects/shared/answers/file-annotation.ts';
import type { Event, EventBatch } from '../../../ir/events.ts';

/** The answer with the files as annotations of its first text. */
export async function* annotated(
  batches: AsyncIterable<EventBatch>,
  files: readonly ParsedFile[],
): AsyncGenerator<EventBatch, void, undefined> {
  let isDone = false;
  for await (const batch of batches) {
    const at = isDone ? -1 : batch.findIndex((event) => event.type === 'part-end' && event.kind === 'text');
    const end = batch[at];
    if (end?.type !== 'part-end') {
      yield batch;
      continue;
    }
    isDone = true;
    const { item, part } = end;
    const named = files.map((file): Event => {
      return { type: 'annotation', item, part, annotation: fileAnnotation(file) };
    });
    yield [...batch.slice(0, at), ...named, ...batch.slice(at)];
  }
}
