import type { Event, EventBatch } from '../../../ir/events.ts';
import type { JsonObject } from '../../../kit/json/json.ts';

/** A file and its text. */
export interface ParsedFile {
  readonly name: string;
  /** SHA-256 of its content. */
  readonly hash: string;
  readonly text: string;
}

/** A parsed file as the chat format names it. */
export function annotationOf({ name, hash, text }: ParsedFile): JsonObject {
  return { type: 'file', file: { hash, name, content: [{ type: 'text', text }] } };
}

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
      const annotation = { type: 'opaque', dialect: 'chat', value: annotationOf(file) } as const;
      return { type: 'annotation', item, part, annotation };
    });
    yield [...batch.slice(0, at), ...named, ...batch.slice(at)];
  }
}
