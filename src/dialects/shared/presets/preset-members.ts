import { lookUp } from '../../../kit/collections/lookup.ts';
import type { Json, JsonObject } from '../../../kit/json/json.ts';
import { isGiven, type PresetForm, type Put, putAs } from './preset-form.ts';
import { uniteTools, writeToolChoice } from './preset-tools.ts';

/** Fields that belong to one request: no preset can have them. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'input',
  'messages',
  'stream',
  'stream_options',
  'store',
  'background',
  'previous_response_id',
  'conversation',
  'session_id',
  'fallbacks',
  'debug',
  'preset',
  'n',
]);

/** Members that formats name or write differently. */
type Meaning = keyof PresetForm['put'] | 'tools' | 'toolChoice';

/** Meanings by the names that a preset may use, from any format. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  system_prompt: 'systemPrompt',
  instructions: 'systemPrompt',
  system: 'systemPrompt',
  max_output_tokens: 'outputLimit',
  max_tokens: 'outputLimit',
  max_completion_tokens: 'outputLimit',
  models: 'models',
  stop: 'stop',
  stop_sequences: 'stop',
  reasoning: 'reasoning',
  tools: 'tools',
  tool_choice: 'toolChoice',
};

/** The meaning of a member: synonyms have the same one. */
export function meaningOf(name: string): string {
  return lookUp(MEANINGS, name) ?? name;
}

/** True if a preset can have a member of this name: some format must have a field for it. */
export function isPresetMember(name: string, forms: readonly PresetForm[]): boolean {
  return forms.some((form) => putOf(name, form) !== undefined);
}

/** Puts a member of this name into requests of a format; undefined = the format has no field for it. */
export function putOf(name: string, form: PresetForm): Put | undefined {
  const meaning = lookUp(MEANINGS, name);
  const { tools } = form;
  switch (meaning) {
    case undefined:
      return form.fields.has(name) && !OWN_FIELDS.has(name) ? putAs(name) : undefined;
    case 'tools':
      return tools && ((value, body) => ({ tools: uniteTools(body.tools, value, tools) }));
    case 'toolChoice':
      return tools && ((value, body) => putAs('tool_choice')(writeToolChoice(value, tools), body));
    default:
      return form.put[meaning];
  }
}

export function membersOf(preset: JsonObject): { name: string; value: Json }[] {
  return Object.entries(preset).flatMap(([name, value]) =>
    value !== undefined && isGiven(value) ? [{ name, value }] : [],
  );
}
