import type { Places } from '../../ir/places.ts';
import type { Tool, ToolChoice } from '../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { booleanAt, compact, membersBeyond, objectAt, objectsAt, textAt } from '../../kit/json/members.ts';
import { parseCacheMark } from '../shared/requests/gateway-fields.ts';
import { isHostedChoice } from '../shared/tools/hosted-choice.ts';

/** Parses tools and the tool choice. */

const TOOL_FIELDS = new Set(['type', 'function', 'custom', 'cache_control']);

export function parseTools(tools: readonly JsonObject[], places: Places): Tool[] {
  return tools.map((tool, position) => places.put(parseTool(tool), `tools[${position}]`));
}

function parseTool(tool: JsonObject): Tool {
  const chat = membersBeyond(tool, TOOL_FIELDS);
  const ext = chat === undefined ? undefined : { chat };
  switch (tool.type) {
    case 'function': {
      const declared = objectAt(tool, 'function');
      return compact({
        type: 'function',
        name: textAt(declared, 'name') ?? '',
        description: textAt(declared, 'description'),
        parameters: objectAt(declared, 'parameters'),
        strict: booleanAt(declared, 'strict'),
        cache: parseCacheMark(tool.cache_control),
        ext,
      });
    }
    case 'custom': {
      const declared = objectAt(tool, 'custom');
      return compact({
        type: 'custom',
        name: textAt(declared, 'name') ?? '',
        description: textAt(declared, 'description'),
        format: parseCustomFormat(objectAt(declared, 'format')),
        ext,
      });
    }
    default:
      return { type: 'hosted', dialect: 'chat', kind: tool.type as string, value: tool };
  }
}

/** The chat format nests the grammar one level deeper than the representation. */
function parseCustomFormat(format: JsonObject | undefined): JsonObject | undefined {
  const grammar = objectAt(format, 'grammar');
  return grammar === undefined ? format : { type: 'grammar', ...grammar };
}

/** Reads `tool_choice`; undefined for one that only upstreams of this dialect may know. */
export function parseToolChoice(choice: Json | undefined, tools: readonly Tool[]): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice };
  if (!isJsonObject(choice)) return undefined;
  switch (choice.type) {
    case 'function':
    case 'custom':
      return { mode: 'tool', kind: choice.type, name: nameOfChosen(choice) };
    case 'allowed_tools': {
      const allowed = objectAt(choice, 'allowed_tools');
      if (allowed?.mode !== 'auto' && allowed?.mode !== 'required') return undefined;
      const tools = objectsAt(allowed, 'tools').map(flatChosenTool);
      return { mode: 'allowed', required: allowed.mode === 'required', tools };
    }
    default:
      return isHostedChoice(choice, tools) ? { mode: 'hosted', dialect: 'chat', value: choice } : undefined;
  }
}

/** The representation names allowed tools as the responses format does: `{type, name}`. */
function flatChosenTool(tool: JsonObject): JsonObject {
  return tool.type === 'function' || tool.type === 'custom'
    ? { type: tool.type, name: nameOfChosen(tool) }
    : tool;
}

function nameOfChosen(choice: JsonObject): string {
  return textAt(objectAt(choice, String(choice.type)), 'name') ?? '';
}
