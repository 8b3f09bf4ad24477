import type { RequestFormat } from '../../../ir/items.ts';
import type { Json, JsonObject } from '../../../kit/json/json.ts';

/** Puts a member of a preset into a request: returns the fields to set, none if the request has its own. */
export type Put = (value: Json, body: JsonObject) => JsonObject;

export interface PresetFunction {
  readonly name: string;
  readonly description: Json | undefined;
  readonly parameters: JsonObject | undefined;
  readonly strict: Json | undefined;
}

/** Plain choices among tools. */
export type ChoiceMode = 'auto' | 'none' | 'required';

/** How a format writes the members of presets. */
export interface PresetForm {
  readonly format: RequestFormat;
  /** Fields of its requests. Members of presets with one name in all formats are set unchanged. */
  readonly fields: ReadonlySet<string>;
  /** Members that formats name or write differently; absent = the format has no field for it. */
  readonly put: {
    readonly models: Put;
    readonly systemPrompt?: Put;
    readonly outputLimit?: Put;
    readonly reasoning?: Put;
    readonly stop?: Put;
  };
  /** Absent = the format has no tools. */
  readonly tools?: ToolsForm;
}

/** How a format writes tools and the choice among them. */
export interface ToolsForm {
  writeFunction(tool: PresetFunction): JsonObject;
  writeChoiceMode(mode: ChoiceMode): Json;
  writeNamedChoice(name: string): JsonObject;
}

/** Sets a field, unless the request has it or a synonym of it. */
export function putAs(field: string, ...synonyms: string[]): Put {
  return (value, body) =>
    [field, ...synonyms].some((name) => isGiven(body[name])) ? {} : { [field]: value };
}

/** Null means absent. */
export function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}
