import type { Format } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import type { Report } from '../shared/report/report.ts';

/** Fields by which a caller may ask for thinking, per format. */
const REASONING_FIELDS: Readonly<Record<Format, readonly string[]>> = {
  responses: ['reasoning'],
  messages: ['thinking', 'output_config.effort'],
  chat: ['reasoning', 'reasoning_effort'],
};

/** What the budget of tokens is called, per format. */
export const BUDGET_NAMES: Readonly<Record<Format, string>> = {
  responses: 'reasoning.max_tokens',
  messages: 'thinking.budget_tokens',
  chat: 'reasoning.max_tokens',
};

/** What the effort is called by this caller: the chat format has a short name for it too. */
export function effortName({ body, format }: Pick<GenerationRequest, 'body' | 'format'>): string {
  if (format === 'messages') return 'output_config.effort';
  const isShort = format === 'chat' && !isPresent(body, ['reasoning', 'effort']);
  return isShort ? 'reasoning_effort' : 'reasoning.effort';
}

/** The fields by which this caller asked for thinking. */
export function reasoningNames({ body, format }: GenerationRequest, report: Report): string[] {
  const given = REASONING_FIELDS[format].filter((name) => isPresent(body, name.split('.')));
  return given.length > 0 ? given : [report.name('reasoning')];
}

function isPresent(object: JsonObject, [name = '', ...rest]: readonly string[]): boolean {
  const value: Json | undefined = object[name];
  if (rest.length > 0) return isJsonObject(value) && isPresent(value, rest);
  return value !== undefined && value !== null;
}
