import type { Json, JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, objectsAt, textAt } from '../../kit/json/members.ts';
import type { VectorAnswer } from '../shared/embeddings/embedding-upstream.ts';

/** Reads an answer. Entries have the index of their input; without indexes they are in order. */
export function readAnswer(body: JsonObject): VectorAnswer {
  const entries = objectsAt(body, 'data');
  const vectors: (Json | undefined)[] = new Array(entries.length).fill(undefined);
  for (const [place, entry] of entries.entries()) {
    const index = numberAt(entry, 'index') ?? place;
    if (Number.isInteger(index) && index >= 0 && index < entries.length) vectors[index] = entry.embedding;
  }
  const usage = objectAt(body, 'usage');
  return {
    vectors: Array.isArray(body.data) ? vectors : undefined,
    inputTokens: usage?.prompt_tokens ?? usage?.total_tokens,
    id: textAt(body, 'id'),
  };
}
