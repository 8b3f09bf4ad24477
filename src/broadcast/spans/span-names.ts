import { boundedText } from '../../kit/json/bounded-json.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, textAt } from '../../kit/json/members.ts';

/** Characters of a name that a caller chose: of a trace, a span or an attribute. Receivers keep no more. */
export const MAX_NAME_CHARACTERS = 256;

export function traceNameAt(
  row: JsonObject,
  member: 'trace_name' | 'span_name' | 'generation_name',
): string | undefined {
  const name = textAt(objectAt(row, 'trace'), member);
  return name === undefined ? undefined : boundedText(name, MAX_NAME_CHARACTERS);
}
