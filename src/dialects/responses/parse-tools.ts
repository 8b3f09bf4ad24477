import type { Places } from '../../ir/places.ts';
import type { CallableTool, Tool, ToolChoice, ToolNamespace } from '../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { booleanAt, compact, objectAt, objectsAt, stringAt } from '../../kit/json/members.ts';
import { ADDITIONAL_TOOL_MARK } from '../shared/report/foreign-members.ts';
import type { Report } from '../shared/report/report.ts';
import { parseCacheMark } from '../shared/requests/gateway-fields.ts';
import {
  ADDING_TOOLS,
  ADDITIONAL_TOOLS,
  isOfAnswer,
  NOT_OF_CALLER,
} from '../shared/tools/additional-tools.ts';
import { isHostedChoice } from '../shared/tools/hosted-choice.ts';
import { identityOf, keyOf } from '../shared/tools/tool-names.ts';
import { extOf, inputPlace } from './parse-content.ts';

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

// --- Tools that items declare ---------------------------------------------------------------------------------------

/** The tools of a request with those that its items declare besides: other dialects get these like any tool. */
export function additionalTools(
  { body, input, tools: declared, places }: DeclaringRequest,
  report: Report,
): readonly Tool[] {
  const tools = [...declared];
  const known = new Set(declared.map(toolKey));
  input.forEach((item, index) => {
    if (!ADDING_TOOLS.has(item.type)) return;
    const path = `${inputPlace(body, index)}.tools`;
    for (const tool of parseTools(objectsAt(item, 'tools'), path, places)) {
      // An upstream writes the results of its searches: it must not have the gateway run tools.
      if (tool.type === 'hosted' && item.type !== ADDITIONAL_TOOLS) continue;
      const misfit = misfitOf(tool, item);
      if (misfit !== undefined) {
        report.dropped(places.of(tool) ?? path, misfit);
        continue;
      }
      const key = toolKey(tool);
      if (known.has(key)) continue;
      known.add(key);
      tools.push(tool.type === 'hosted' ? tool : places.put(marked(tool), places.of(tool) ?? path));
    }
  });
  return tools;
}

interface DeclaringRequest {
  readonly body: JsonObject;
  readonly input: readonly JsonObject[];
  /** Those in `tools`. */
  readonly tools: readonly Tool[];
  readonly places: Places;
}

/** Why a tool of an item does not count; undefined = it does. */
function misfitOf(tool: Tool, item: JsonObject): string | undefined {
  if (tool.type === 'hosted') return isOfAnswer(item) ? NOT_OF_CALLER : undefined;
  return tool.name === '' || tool.namespace?.name === '' ? 'has no name' : undefined;
}

function marked(tool: CallableTool): CallableTool {
  return { ...tool, ext: { responses: { ...tool.ext?.responses, [ADDITIONAL_TOOL_MARK]: true } } };
}

/** Equal for tools of which a request has only one: of one name, or hosted ones that are written alike. */
function toolKey(tool: Tool): string {
  return tool.type === 'hosted' ? JSON.stringify(tool.value) : keyOf(identityOf(tool));
}
