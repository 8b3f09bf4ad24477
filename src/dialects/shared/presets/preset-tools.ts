import { invalidRequest } from '../../../ir/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import { objectAt, objectsOf, stringAt } from '../../../kit/json/members.ts';
import { MAX_TOOLS } from '../requests/gateway-fields.ts';
import type { ChoiceMode, PresetFunction, ToolsForm } from './preset-form.ts';

/** The tools of a request followed by those of a preset, in the request's format. No two have the same identity. */
export function uniteTools(own: Json | undefined, preset: Json, form: ToolsForm): JsonObject[] {
  const united = new Map<string, JsonObject>();
  const written = objectsOf(own);
  for (const tool of [...written, ...objectsOf(preset).map((each) => writeTool(each, form))]) {
    const identity = identityOf(tool);
    if (!united.has(identity)) united.set(identity, tool);
  }
  const added = [...united.values()].filter((tool) => !written.includes(tool));
  if (written.length + added.length > MAX_TOOLS) {
    const message = `must have at most ${MAX_TOOLS} items, those of the preset among them`;
    throw invalidRequest([{ path: 'tools', message }]);
  }
  return [...written, ...added];
}

/** Kinds of tools that may occur several times, each with its own name. */
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

function writeTool(tool: JsonObject, form: ToolsForm): JsonObject {
  const declared = readFunction(tool);
  return declared === undefined ? tool : form.writeFunction(declared);
}

/** Reads a function of any format; undefined for any other tool. */
function readFunction(tool: JsonObject): PresetFunction | undefined {
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

/** A tool choice in the words of a format; one that is no plain mode stays unchanged. */
export function writeToolChoice(choice: Json, form: ToolsForm): Json {
  const mode = modeOf(choice);
  if (mode !== undefined) return form.writeChoiceMode(mode);
  const name = isJsonObject(choice) ? nameOf(choice) : '';
  return name === '' ? choice : form.writeNamedChoice(name);
}

const MODES: ReadonlyMap<Json | undefined, ChoiceMode> = new Map([
  ['auto', 'auto'],
  ['none', 'none'],
  ['required', 'required'],
  ['any', 'required'],
]);

function modeOf(choice: Json): ChoiceMode | undefined {
  return MODES.get(isJsonObject(choice) ? choice.type : choice);
}
