import { conversationForm } from '../../ir/format-facts.ts';
import type { ReasoningFormat } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { objectAt, textAt } from '../../kit/json/members.ts';
import { unwrapSeal, wrapSeal } from '../shared/reasoning/custody.ts';
import type { Report } from '../shared/report/report.ts';

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

// --- Seals ----------------------------------------------------------------------------------------------------------

/**
 * An event or a whole answer with each seal wrapped together with its format. Providers of another family than this
 * dialect's own name no format in their answers, and most callers send back `encrypted_content` alone. Both lanes treat
 * a wrapped seal as they treat any foreign one.
 */
export function withNamedSeals(value: JsonObject, format: ReasoningFormat): JsonObject {
  const { output } = value;
  const item = objectAt(value, 'item');
  const response = objectAt(value, 'response');
  if (item === undefined && response === undefined && output === undefined) return value;
  return {
    ...value,
    ...(item !== undefined && { item: namedSeal(item, format) }),
    ...(response !== undefined && { response: withNamedSeals(response, format) }),
    ...(Array.isArray(output) && {
      output: output.map((each) => (isJsonObject(each) ? namedSeal(each, format) : each)),
    }),
  };
}

function namedSeal(item: JsonObject, format: ReasoningFormat): JsonObject {
  const encrypted = textAt(item, 'encrypted_content');
  if (item.type !== 'reasoning' || encrypted === undefined) return item;
  if (typeof item.format === 'string' || unwrapSeal(encrypted) !== undefined) return item;
  return { ...item, encrypted_content: wrapSeal({ id: textAt(item, 'id'), encrypted, format }), format };
}
