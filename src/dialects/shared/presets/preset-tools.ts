import { invalidRequest } from '../../../ir/errors.ts';
import type { Format } from '../../../ir/items.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import { compact, objectAt, objectsOf, stringAt } from '../../../kit/json/members.ts';
import { MOST_TOOLS } from '../requests/gateway-fields.ts';

/** A function as the representation of tools has it, whatever format it was written in. */
interface FunctionTool {
  readonly name: string;
  readonly description: Json | undefined;
  readonly parameters: JsonObject | undefined;
  readonly strict: Json | undefined;
}

/** The tools of a request and behind them those of a preset, in the words of the format. One identity, one tool. */
export function uniteTools(own: Json | undefined, preset: Json, format: Format): JsonObject[] {
  const united = new Map<string, JsonObject>();
  const written = objectsOf(own);
  for (const tool of [...written, ...objectsOf(preset).map((each) => writeTool(each, format))]) {
    const identity = identityOf(tool);
    if (!united.has(identity)) united.set(identity, tool);
  }
  const added = [...united.values()].filter((tool) => !written.includes(tool));
  if (written.length + added.length > MOST_TOOLS) {
    const message = `must have at most ${MOST_TOOLS} items, those of the preset among them`;
    throw invalidRequest([{ path: 'tools', message }]);
  }
  return [...written, ...added];
}

/** Tools of which there may be several: what tells them apart is the name. */
const NAMED_KINDS = /(?:^|:)(?:advisor|subagent)/;

function identityOf(tool: JsonObject): string {
  const type = stringAt(tool, 'type') ?? 'function';
  const name = nameOf(tool);
  if (type === 'function' || type === 'custom') return `function ${name}`;
  return NAMED_KINDS.test(type) ? `${type} ${name}` : type;
}

function nameOf(tool: JsonObject): string {
  const wrapped = objectAt(tool, 'function') ?? objectAt(tool, 'custom');
  return stringAt(wrapped, 'name') ?? stringAt(tool, 'name') ?? '';
}

function writeTool(tool: JsonObject, format: Format): JsonObject {
  const declared = readFunction(tool);
  return declared === undefined ? tool : FUNCTION_WRITERS[format](declared);
}

/** Reads a function in the words of any format; undefined for any other tool. */
function readFunction(tool: JsonObject): FunctionTool | undefined {
  const type = stringAt(tool, 'type');
  const schema = objectAt(tool, 'input_schema');
  if (type !== 'function' && schema === undefined) return undefined;
  const declared = objectAt(tool, 'function') ?? tool;
  return {
    name: stringAt(declared, 'name') ?? '',
    description: declared.description,
    parameters: schema ?? objectAt(declared, 'parameters'),
    strict: declared.strict,
  };
}

const FUNCTION_WRITERS: Readonly<Record<Format, (tool: FunctionTool) => JsonObject>> = {
  responses: (tool) => compact({ type: 'function', ...tool }),
  chat: (tool) => ({ type: 'function', function: compact({ ...tool }) }),
  messages: ({ name, description, parameters, strict }) =>
    compact({ name, description, input_schema: { type: 'object', ...parameters }, strict }),
};

/** A choice of tools in the words of a format; what is no plain choice stays as it is. */
export function writeToolChoice(choice: Json, format: Format): Json {
  const mode = modeOf(choice);
  if (mode !== undefined) return format === 'messages' ? { type: MESSAGES_MODES[mode] } : mode;
  const name = isJsonObject(choice) ? nameOf(choice) : '';
  return name === '' ? choice : NAMED_CHOICE_WRITERS[format](name);
}

type Mode = 'auto' | 'none' | 'required';

const MODES: ReadonlyMap<Json | undefined, Mode> = new Map([
  ['auto', 'auto'],
  ['none', 'none'],
  ['required', 'required'],
  ['any', 'required'],
]);

const MESSAGES_MODES: Readonly<Record<Mode, string>> = { auto: 'auto', none: 'none', required: 'any' };

function modeOf(choice: Json): Mode | undefined {
  return MODES.get(isJsonObject(choice) ? choice.type : choice);
}

const NAMED_CHOICE_WRITERS: Readonly<Record<Format, (name: string) => JsonObject>> = {
  responses: (name) => ({ type: 'function', name }),
  chat: (name) => ({ type: 'function', function: { name } }),
  messages: (name) => ({ type: 'tool', name }),
};
