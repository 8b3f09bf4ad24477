import type { JsonObject } from '../../../kit/json/json.ts';
import { textAt } from '../../../kit/json/members.ts';

/**
 * The text of a `tool_reference` of the messages format, by which a tool that was searched for is loaded; undefined
 * for other parts. The tool is among those of the request, so other dialects have no need of the reference itself.
 */
export function textOfToolReference(value: JsonObject): string | undefined {
  const name = value.type === 'tool_reference' ? textAt(value, 'tool_name') : undefined;
  return name && `The tool ${name} can be called now.`;
}
