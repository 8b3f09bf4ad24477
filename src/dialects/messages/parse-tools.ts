import type { Places } from '../../ir/places.ts';
import type { Tool, ToolChoice } from '../../ir/request.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import { objectsOf } from '../../kit/json/members.ts';
import { isHostedChoice } from '../shared/tools/hosted-choice.ts';
import { marks } from './parse-content.ts';

const FUNCTION_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
]);

/** Parses the tools of a request; notes the place of each in `places`. */
export function parseTools(tools: Json | undefined, places: Places): Tool[] {
  return objectsOf(tools).map((tool, index) => places.put(parseTool(tool), `tools[${index}]`));
}

function parseTool(tool: JsonObject): Tool {
  if (typeof tool.type === 'string' && tool.type !== 'custom') {
    return { type: 'hosted', dialect: 'messages', kind: tool.type, value: tool };
  }
  return {
    type: 'function',
    name: tool.name as string,
    ...(typeof tool.description === 'string' && { description: tool.description }),
    ...(isJsonObject(tool.input_schema) && { parameters: tool.input_schema }),
    ...(typeof tool.strict === 'boolean' && { strict: tool.strict }),
    ...marks(tool, FUNCTION_FIELDS),
  };
}

/** Parses the tool choice, and whether calls may be parallel. */
export function parseToolChoice(
  choice: JsonObject,
  tools: readonly Tool[],
): { toolChoice?: ToolChoice; parallelToolCalls?: boolean } {
  const parallel = choice.disable_parallel_tool_use === true ? { parallelToolCalls: false } : {};
  switch (choice.type) {
    case 'auto':
      return { toolChoice: { mode: 'auto' }, ...parallel };
    case 'any':
      return { toolChoice: { mode: 'required' }, ...parallel };
    case 'none':
      return { toolChoice: { mode: 'none' } };
    case 'tool':
      return { toolChoice: namedChoice(choice, tools), ...parallel };
    default:
      return isHostedChoice(choice, tools)
        ? { toolChoice: { mode: 'hosted', dialect: 'messages', value: choice }, ...parallel }
        : {};
  }
}

function namedChoice(choice: JsonObject, tools: readonly Tool[]): ToolChoice {
  const name = choice.name as string;
  const isHosted = tools.some((tool) => tool.type === 'hosted' && tool.value.name === name);
  return isHosted
    ? { mode: 'hosted', dialect: 'messages', value: { type: 'tool', name } }
    : { mode: 'tool', kind: 'function', name };
}
