import { GatewayError, invalidRequest } from '../../../ir/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';

/** A stored prompt of the configuration. `{{name}}` is a variable. */
export interface PromptTemplate {
  readonly instructions?: string;
  readonly input?: string;
}

/** Mark of an item from a template. A symbol, so that neither JSON nor a comparison sees it. */
const FROM_TEMPLATE = Symbol('from a prompt template');

/** Number of items at the beginning of a filled body's `input` that the caller did not write. */
export function templateItemCount(body: JsonObject): number {
  const first = Array.isArray(body.input) ? body.input[0] : undefined;
  return isJsonObject(first) && FROM_TEMPLATE in first ? 1 : 0;
}

/** An item that replaces another; marked as a template's if the other is. */
export function inPlaceOf(replaced: JsonObject, item: JsonObject): JsonObject {
  return FROM_TEMPLATE in replaced ? made(item) : item;
}

const VARIABLE = /\{\{\s*([\w.-]+)\s*\}\}/g;

/**
 * Fills the template that a responses request names in `prompt` into a new body. The template's input comes before the
 * request's own; the request's `instructions` win over the template's. `prompt` stays, for the echo. Variables are
 * inserted as plain text and not expanded again, so that a value cannot name another variable.
 */
export function fillPromptTemplate(
  body: JsonObject,
  templates: Readonly<Record<string, PromptTemplate>>,
): JsonObject {
  const { prompt } = body;
  if (!isJsonObject(prompt)) return body;
  const id = String(prompt.id);
  const template = Object.hasOwn(templates, id) ? templates[id] : undefined;
  if (template === undefined) {
    throw new GatewayError('not-found', `prompt.id: there is no template ${JSON.stringify(id.slice(0, 64))}`);
  }
  const variables = isJsonObject(prompt.variables) ? prompt.variables : {};
  const filled: JsonObject = { ...body };
  if (template.instructions !== undefined && typeof body.instructions !== 'string') {
    filled.instructions = fillText(template.instructions, variables);
  }
  if (template.input !== undefined)
    filled.input = joinInput(fillParts(template.input, variables), body.input);
  return filled;
}

function fillText(template: string, variables: JsonObject): string {
  return template.replace(VARIABLE, (_variable, name: string) => {
    const text = textOf(variableNamed(name, variables));
    if (text === undefined) {
      throw unprocessable(name, 'is not text: it cannot stand in the instructions of this prompt');
    }
    return text;
  });
}

/** The template's input as content parts: text, and a part for each variable that is no text. */
function fillParts(template: string, variables: JsonObject): JsonObject[] {
  const parts: JsonObject[] = [];
  let text = '';
  let end = 0;
  for (const match of template.matchAll(VARIABLE)) {
    const value = variableNamed(match[1] ?? '', variables);
    text += template.slice(end, match.index);
    end = match.index + match[0].length;
    const inserted = textOf(value);
    if (inserted !== undefined) {
      text += inserted;
    } else if (isJsonObject(value)) {
      if (text.trim() !== '') parts.push({ type: 'input_text', text });
      parts.push(value);
      text = '';
    }
  }
  text += template.slice(end);
  if (parts.length === 0 || text.trim() !== '') parts.push({ type: 'input_text', text });
  return parts;
}

function joinInput(parts: JsonObject[], own: Json | undefined): Json {
  const [only, ...more] = parts;
  const isText = more.length === 0 && only?.type === 'input_text';
  const items = itemsOf(own);
  if (items.length === 0 && isText) return only.text ?? '';
  return [made({ type: 'message', role: 'user', content: parts }), ...items];
}

function made(item: JsonObject): JsonObject {
  return Object.defineProperty(item, FROM_TEMPLATE, { value: true });
}

function itemsOf(input: Json | undefined): Json[] {
  if (typeof input === 'string')
    return input === '' ? [] : [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input : [];
}

function variableNamed(name: string, variables: JsonObject): Json {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  if (value === undefined || value === null) throw unprocessable(name, 'is required by this prompt');
  return value;
}

function textOf(value: Json): string | undefined {
  if (typeof value === 'string') return value;
  return isJsonObject(value) && value.type === 'input_text' ? String(value.text) : undefined;
}

function unprocessable(name: string, message: string): GatewayError {
  return invalidRequest([{ path: `prompt.variables.${name}`, message }], 'unprocessable');
}
