import { conversationForm } from '../../ir/format-facts.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import type { Report } from '../shared/report/report.ts';

/** The caller's fields for thinking. */
export function reasoningNames({ body, formatFacts }: GenerationRequest, report: Report): string[] {
  const given = conversationForm(formatFacts).reasoning.fields.filter((name) =>
    isPresent(body, name.split('.')),
  );
  return given.length > 0 ? given : [report.name('reasoning')];
}

function isPresent(object: JsonObject, [name = '', ...rest]: readonly string[]): boolean {
  const value: Json | undefined = object[name];
  if (rest.length > 0) return isJsonObject(value) && isPresent(value, rest);
  return value !== undefined && value !== null;
}
