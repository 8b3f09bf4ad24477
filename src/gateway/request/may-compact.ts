import type { GenerationRequest } from '../../ir/request.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import { objectOf, objectsAt, objectsOf } from '../../kit/json/members.ts';

/**
 * Whether a request lets its upstream summarize the context before it answers: one more pass of the model, which is
 * billed. `context_management` is an object with `edits` in the messages format and a list in the responses format;
 * `compaction` asks for a summary at once.
 */
export function mayCompact({ body }: Pick<GenerationRequest, 'body'>): boolean {
  const management = body.context_management;
  const edits = [...objectsOf(management), ...objectsAt(objectOf(management), 'edits')];
  return isJsonObject(body.compaction) || edits.some(({ type }) => `${type}`.startsWith('compact'));
}
