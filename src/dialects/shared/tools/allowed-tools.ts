import type { GenerationRequest, Tool } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { objectAt, stringAt } from '../../../kit/json/members.ts';

/** The allowed tools, for dialects that cannot narrow a list of tools: only these are sent. */
export function allowedTools({ tools, toolChoice }: GenerationRequest): readonly Tool[] {
  if (toolChoice?.mode !== 'allowed') return tools;
  const kinds = new Set(toolChoice.tools.map((entry) => stringAt(entry, 'type')));
  const names = new Set(toolChoice.tools.map(nameOfAllowed));
  return tools.filter((tool) => (tool.type === 'hosted' ? kinds.has(tool.kind) : names.has(tool.name)));
}

/** The name in an entry of allowed tools. Formats write `{type, name}` or `{type, function: {name}}`. */
export function nameOfAllowed(entry: JsonObject): string | undefined {
  return (
    stringAt(entry, 'name') ?? stringAt(objectAt(entry, 'function') ?? objectAt(entry, 'custom'), 'name')
  );
}
