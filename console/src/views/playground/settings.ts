import { EFFORTS, type Effort, type Settings, type Tool } from './conversation.ts';

/** Parameters as they are typed; empty = not sent. */
export interface SettingTexts {
  readonly maxTokens: string;
  readonly temperature: string;
  readonly topP: string;
  readonly effort: string;
  readonly provider: string;
}

export const NO_SETTINGS: SettingTexts = {
  maxTokens: '',
  temperature: '',
  topP: '',
  effort: '',
  provider: '',
};

export interface ReadSettings {
  readonly settings: Settings;
  readonly problems: Readonly<Partial<Record<keyof SettingTexts, string>>>;
}

/** What the texts mean. A text with a problem is not sent. */
export function readSettings(texts: SettingTexts): ReadSettings {
  const maxTokens = numberIn(texts.maxTokens, 1, Number.MAX_SAFE_INTEGER, true);
  const temperature = numberIn(texts.temperature, 0, 2, false);
  const topP = numberIn(texts.topP, 0, 1, false);
  const provider = objectIn(texts.provider);
  const effort = EFFORTS.find((name) => name === texts.effort);
  return {
    settings: {
      ...memberOf('maxTokens', maxTokens),
      ...memberOf('temperature', temperature),
      ...memberOf('topP', topP),
      ...memberOf('provider', provider),
      ...(effort !== undefined && { effort: effort satisfies Effort }),
    },
    problems: {
      ...problemOf('maxTokens', maxTokens),
      ...problemOf('temperature', temperature),
      ...problemOf('topP', topP),
      ...problemOf('provider', provider),
    },
  };
}

type Read<Value> = { readonly value: Value } | { readonly problem: string } | null;

function memberOf<Name extends string, Value>(name: Name, read: Read<Value>) {
  return (read !== null && 'value' in read ? { [name]: read.value } : {}) as { [key in Name]?: Value };
}

function problemOf(name: keyof SettingTexts, read: Read<unknown>) {
  return read !== null && 'problem' in read ? { [name]: read.problem } : {};
}

function numberIn(text: string, from: number, to: number, isWhole: boolean): Read<number> {
  if (text.trim() === '') return null;
  const value = Number(text);
  const fits = value >= from && value <= to && (!isWhole || Number.isInteger(value));
  if (fits) return { value };
  const kind = isWhole ? 'A whole number' : 'A number';
  return {
    problem: to === Number.MAX_SAFE_INTEGER ? `${kind} from ${from}.` : `${kind} from ${from} to ${to}.`,
  };
}

function objectIn(text: string): Read<Readonly<Record<string, unknown>>> {
  if (text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value: { ...value } };
    return { problem: 'An object of JSON, such as {"order": ["simulator"]}.' };
  } catch (error) {
    return { problem: `Not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** An example of tools: what an empty editor begins with. */
export const EXAMPLE_TOOLS: readonly Tool[] = [
  {
    name: 'get_weather',
    description: 'The weather of a city now.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];

const TOOL_NAME = /^[\w-]{1,64}$/;

/** Tools from the text of the editor: a list of functions, each with the JSON schema of its parameters. */
export function readTools(text: string): { readonly tools: readonly Tool[] } | { readonly problem: string } {
  if (text.trim() === '') return { tools: [] };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `Not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (!Array.isArray(value)) return { problem: 'A list: [{"name": …, "parameters": {…}}].' };
  const bad = value.findIndex((tool) => !isTool(tool));
  if (bad >= 0) {
    return { problem: `Tool ${bad + 1} needs a name (letters, digits, _ and -) and a schema in parameters.` };
  }
  return { tools: value as Tool[] };
}

function isTool(value: unknown): value is Tool {
  const { name, parameters } = (value ?? {}) as Partial<Tool>;
  return (
    typeof name === 'string' &&
    TOOL_NAME.test(name) &&
    typeof parameters === 'object' &&
    parameters !== null &&
    !Array.isArray(parameters)
  );
}
