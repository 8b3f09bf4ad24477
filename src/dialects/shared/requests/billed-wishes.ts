import { isJsonObject, type JsonObject } from '../../../kit/json/json.ts';
import { objectOf, objectsAt, objectsOf } from '../../../kit/json/members.ts';

/**
 * Members of a caller's body that make its answer dearer. They are looked for in bodies of every format: the relay lane
 * sends members that a format does not document too.
 */

/**
 * Whether a body lets its upstream summarize the context before it answers: one more pass of the model, which is
 * billed. `context_management` is an object with `edits` in the messages format and a list in the responses format;
 * `compaction` asks for a summary at once.
 */
export function mayCompact(body: JsonObject): boolean {
  const management = body.context_management;
  const edits = [...objectsOf(management), ...objectsAt(objectOf(management), 'edits')];
  return isJsonObject(body.compaction) || edits.some(({ type }) => `${type}`.startsWith('compact'));
}

/** Whether a body asks for a region in which prices are higher: `inference_geo` of the messages format. */
export function namesRegion(body: JsonObject): boolean {
  return (body.inference_geo ?? 'global') !== 'global';
}
