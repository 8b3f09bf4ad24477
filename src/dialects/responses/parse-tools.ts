import type { Places } from '../../ir/places.ts';
import type { Tool, ToolChoice, ToolNamespace } from '../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { booleanAt, compact, objectAt, objectsAt, stringAt } from '../../kit/json/members.ts';
import { parseCacheMark } from '../shared/requests/gateway-fields.ts';
import { isHostedChoice } from '../shared/tools/hosted-choice.ts';
import { extOf } from './parse-content.ts';

/** Parses tools and the tool choice. */

const FUNCTION_FIELDS = new Set(['type', 'name', 'description', 'parameters', 'strict', 'cache_control']);
const CUSTOM_FIELDS = new Set(['type', 'name', 'description', 'format']);

/** Parses the list of tools at `path`; groups are flattened, and each of their tools notes its group. */
export function parseTools(values: readonly JsonObject[], path: string, places: Places): Tool[] {
  return values.flatMap((value, index) => {
    const place = `${path}[${index}]`;
    if (value.type !== 'namespace') return [places.put(parseTool(value, undefined), place)];
    const namespace: ToolNamespace = compact({
      name: stringAt(value, 'name') ?? '',
      description: stringAt(value, 'description'),
    });
    return objectsAt(value, 'tools').map((tool, inner) =>
      places.put(parseTool(tool, namespace), `${place}.tools[${inner}]`),
    );
  });
}

function parseTool(value: JsonObject, namespace: ToolNamespace | undefined): Tool {
  switch (value.type) {
    case 'function':
      return compact({
        type: 'function',
        name: stringAt(value, 'name') ?? '',
        description: stringAt(value, 'description'),
        parameters: objectAt(value, 'parameters'),
        strict: booleanAt(value, 'strict'),
        namespace,
        cache: parseCacheMark(value.cache_control),
        ext: extOf(value, FUNCTION_FIELDS),
      });
    case 'custom':
      return compact({
        type: 'custom',
        name: stringAt(value, 'name') ?? '',
        description: stringAt(value, 'description'),
        format: objectAt(value, 'format'),
        namespace,
        ext: extOf(value, CUSTOM_FIELDS),
      });
    default:
      return { type: 'hosted', dialect: 'responses', kind: stringAt(value, 'type') ?? '', value };
  }
}

/** Reads `tool_choice`; undefined for one that only upstreams of this dialect may know. */
export function parseToolChoice(value: Json | undefined, tools: readonly Tool[]): ToolChoice | undefined {
  if (value === 'auto' || value === 'none' || value === 'required') return { mode: value };
  if (!isJsonObject(value)) return undefined;
  switch (value.type) {
    case 'function':
    case 'custom':
      return { mode: 'tool', kind: value.type, name: stringAt(value, 'name') ?? '' };
    case 'allowed_tools':
      if (value.mode !== 'auto' && value.mode !== 'required') return undefined;
      return { mode: 'allowed', required: value.mode === 'required', tools: objectsAt(value, 'tools') };
    default:
      return isHostedChoice(value, tools) ? { mode: 'hosted', dialect: 'responses', value } : undefined;
  }
}
