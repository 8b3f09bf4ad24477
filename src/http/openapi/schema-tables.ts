import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { escapeHtml, inline } from './html.ts';

/** Schemas nested deeper are named, not shown: the whole is in the JSON document. */
const MAX_DEPTH = 5;

/** The values that a schema allows, as a table: fields of an object, members of an array, branches of a choice. */
export function schemaTable(schema: Json | undefined, depth = 0): string {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return '';
  if (isJsonObject(schema.properties)) return fieldTable(schema, depth);
  if (isJsonObject(schema.items))
    return isPlain(schema.items) ? '' : `<p>Each:</p>${schemaTable(schema.items, depth)}`;
  const branches = branchesOf(schema).filter((branch) => !isPlain(branch));
  if (branches.length === 0) return '';
  return `<ul>${branches.map((branch) => `<li>${foldable(typeOf(branch), schemaTable(branch, depth + 1))}</li>`).join('')}</ul>`;
}

function fieldTable(schema: JsonObject, depth: number): string {
  const required = new Set((schema.required ?? []) as string[]);
  const rows = Object.entries(schema.properties as JsonObject).map(([name, field]) => {
    const inner = schemaTable(field, depth + 1);
    const description = isJsonObject(field) ? inline(field.description) : '';
    return (
      `<tr><td><code>${escapeHtml(name)}</code>${mark(required.has(name))}</td><td>${typeOf(field)}</td>` +
      `<td>${description}</td></tr>${inner === '' ? '' : innerRow(foldable('Details', inner))}`
    );
  });
  return `<div class="wide"><table><tr><th>Field</th><th>Type</th><th></th></tr>${rows.join('')}</table></div>`;
}

/** A row of its own has the width of the whole table. */
function innerRow(content: string): string {
  return `<tr class="inner"><td colspan="3">${content}</td></tr>`;
}

function foldable(summary: string, inner: string): string {
  return inner === '' ? summary : `<details><summary>${summary}</summary>${inner}</details>`;
}

function isPlain(schema: JsonObject): boolean {
  return schemaTable(schema, MAX_DEPTH) === '';
}

function branchesOf(schema: JsonObject): JsonObject[] {
  return ((schema.anyOf ?? schema.oneOf ?? []) as Json[]).filter(isJsonObject);
}

/** A schema in a few words. */
export function typeOf(schema: Json | undefined): string {
  if (!isJsonObject(schema)) return 'anything';
  if (typeof schema.$ref === 'string') {
    const name = escapeHtml(schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1));
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`;
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((value) => `<code>${escapeHtml(JSON.stringify(value))}</code>`).join(' | ');
  }
  const branches = branchesOf(schema);
  if (branches.length > 0) return [...new Set(branches.map(typeOf))].join(' | ');
  if (schema.not !== undefined) return 'refused';
  if (schema.type === 'array') return `array of ${typeOf(schema.items)}`;
  return `${escapeHtml(schema.type ?? 'anything')}${limitsOf(schema)}`;
}

const LIMIT_WORDS: Readonly<Record<string, string>> = {
  minimum: '>=',
  maximum: '<=',
  minLength: 'length >=',
  maxLength: 'length <=',
};

function limitsOf(schema: JsonObject): string {
  const limits = Object.entries(LIMIT_WORDS).filter(([keyword]) => schema[keyword] !== undefined);
  if (limits.length === 0) return '';
  return ` <span class="note">(${limits.map(([keyword, word]) => `${escapeHtml(word)} ${escapeHtml(schema[keyword])}`).join(', ')})</span>`;
}

export function mark(required: boolean): string {
  return required ? ' <span class="required" title="required">*</span>' : '';
}
