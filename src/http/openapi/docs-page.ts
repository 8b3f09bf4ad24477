import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import type { OpenApiDocument } from './openapi.ts';

/** A page and the policy that lets a browser show nothing but it. */
export interface DocsPage {
  /** Shared by all replies. */
  readonly html: Uint8Array;
  readonly contentSecurityPolicy: string;
}

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #0b6; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1.5rem; }
h1 { margin-top: 0; } h2 { border-bottom: 1px solid var(--line); margin-top: 2.5rem; }
code, .method { font-family: ui-monospace, monospace; font-size: .9em; }
article { border: 1px solid var(--line); border-radius: .5rem; margin: 1rem 0; padding: .5rem 1rem; }
article h3 { margin: .5rem 0; } .method { color: var(--accent); font-weight: 700; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; }
td, th { border-top: 1px solid var(--line); padding: .3rem .6rem .3rem 0; vertical-align: top; }
details { margin: .25rem 0; } summary { cursor: pointer; }
details > table, details > ul { background: var(--soft); border-radius: .3rem; margin: .3rem 0; padding: .3rem .6rem; }
nav ul { columns: 2; } .note { opacity: .75; } .required { color: #c40; }
`;

/** Schemas nested deeper are named, not shown: the whole is in the JSON document. */
const MAX_DEPTH = 5;

/** Makes a readable page of an interface description: no script, nothing from outside. */
export function renderDocsPage(document: OpenApiDocument): DocsPage {
  const info = document.info as JsonObject;
  const operations = operationsOf(document);
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const schemas = Object.entries((document.components.schemas ?? {}) as JsonObject);
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${escapeHtml(info.title)}</h1>
<p>${inline(info.description)}</p>
<p>Send a key as <code>Authorization: Bearer KEY</code> or <code>x-api-key: KEY</code>.</p>
</header>
<nav aria-label="Operations"><ul>${operations.map(navigationEntry).join('')}<li><a href="#schemas">Schemas</a></li></ul></nav>
<main>
${tags.map((tag) => section(tag, operations)).join('\n')}
<section id="schemas"><h2>Schemas</h2>
${schemas.map(([name, schema]) => namedSchema(name, schema as JsonObject)).join('\n')}
</section>
</main>
</body>
</html>
`;
  const styleHash = createHash('sha256').update(STYLE).digest('base64');
  return {
    html: Buffer.from(html),
    contentSecurityPolicy: [
      "default-src 'none'",
      `style-src 'sha256-${styleHash}'`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  };
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly value: JsonObject;
}

function operationsOf({ paths }: OpenApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as JsonObject)
      .filter(([method]) => method !== 'servers')
      .map(([method, value]) => {
        const operation = value as JsonObject;
        return {
          method: method.toUpperCase(),
          path,
          tag: String((operation.tags as Json[])[0]),
          value: operation,
        };
      }),
  );
}

function navigationEntry({ method, path, value }: Operation): string {
  return (
    `<li><a href="#${escapeHtml(value.operationId)}"><span class="method">${method}</span> ` +
    `${escapeHtml(path)}</a></li>`
  );
}

function section(tag: string, operations: readonly Operation[]): string {
  const own = operations.filter((operation) => operation.tag === tag);
  return `<section><h2>${escapeHtml(tag)}</h2>${own.map(article).join('\n')}</section>`;
}

function article({ method, path, value }: Operation): string {
  const parameters = (value.parameters ?? []) as JsonObject[];
  const body = ((value.requestBody as JsonObject | undefined)?.content as JsonObject | undefined)?.[
    'application/json'
  ] as JsonObject | undefined;
  return `<article id="${escapeHtml(value.operationId)}">
<h3><span class="method">${method}</span> <code>${escapeHtml(path)}</code></h3>
<p>${escapeHtml(value.summary)}. <span class="note">${inline(value.description)}</span></p>
${parameters.length === 0 ? '' : `<details><summary>Parameters</summary>${parameterTable(parameters)}</details>`}
${body === undefined ? '' : `<p>Request body: ${typeOf(body.schema)}</p>`}
<details><summary>Replies</summary>${replyTable(value.responses as JsonObject)}</details>
</article>`;
}

function parameterTable(parameters: readonly JsonObject[]): string {
  const rows = parameters.map(
    ({ name, in: place, required, description, schema }) =>
      `<tr><td><code>${escapeHtml(name)}</code>${mark(required === true)}</td><td>${escapeHtml(place)}</td>` +
      `<td>${typeOf(schema)}</td><td>${inline(description)}</td></tr>`,
  );
  return `<table><tr><th>Name</th><th>In</th><th>Type</th><th></th></tr>${rows.join('')}</table>`;
}

function replyTable(responses: JsonObject): string {
  const rows = Object.entries(responses).map(([status, response]) => {
    const { description, content } = response as JsonObject;
    const kinds = Object.entries((content ?? {}) as JsonObject).map(
      ([type, media]) => `<code>${escapeHtml(type)}</code> ${typeOf((media as JsonObject).schema)}`,
    );
    return `<tr><td><code>${status}</code></td><td>${inline(description)}</td><td>${kinds.join('<br>')}</td></tr>`;
  });
  return `<table><tr><th>Status</th><th>Meaning</th><th>Body</th></tr>${rows.join('')}</table>`;
}

function namedSchema(name: string, schema: JsonObject): string {
  return `<article id="schema-${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3>
<p>${inline(schema.description)}</p>
<details><summary>Fields</summary>${shape(schema, 0)}</details></article>`;
}

/** What a schema allows: fields of an object, members of an array, branches of a choice. */
function shape(schema: Json | undefined, depth: number): string {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return '';
  if (isJsonObject(schema.properties)) return fieldTable(schema, depth);
  if (isJsonObject(schema.items))
    return isPlain(schema.items) ? '' : `<p>Each:</p>${shape(schema.items, depth)}`;
  const branches = branchesOf(schema).filter((branch) => !isPlain(branch));
  if (branches.length === 0) return '';
  return `<ul>${branches.map((branch) => `<li>${foldable(typeOf(branch), shape(branch, depth + 1))}</li>`).join('')}</ul>`;
}

function fieldTable(schema: JsonObject, depth: number): string {
  const required = new Set((schema.required ?? []) as string[]);
  const rows = Object.entries(schema.properties as JsonObject).map(([name, field]) => {
    const inner = shape(field, depth + 1);
    const description = isJsonObject(field) ? inline(field.description) : '';
    return (
      `<tr><td><code>${escapeHtml(name)}</code>${mark(required.has(name))}</td><td>${typeOf(field)}</td>` +
      `<td>${description}${inner === '' ? '' : foldable('Details', inner)}</td></tr>`
    );
  });
  return `<table><tr><th>Field</th><th>Type</th><th></th></tr>${rows.join('')}</table>`;
}

function foldable(summary: string, inner: string): string {
  return inner === '' ? summary : `<details><summary>${summary}</summary>${inner}</details>`;
}

function isPlain(schema: JsonObject): boolean {
  return shape(schema, MAX_DEPTH) === '';
}

function branchesOf(schema: JsonObject): JsonObject[] {
  return ((schema.anyOf ?? schema.oneOf ?? []) as Json[]).filter(isJsonObject);
}

/** A schema in a few words. */
function typeOf(schema: Json | undefined): string {
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

function mark(required: boolean): string {
  return required ? ' <span class="required" title="required">*</span>' : '';
}

/** Text with `code` in it. */
function inline(text: Json | undefined): string {
  return escapeHtml(text ?? '').replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(value: Json | undefined): string {
  return String(value ?? '').replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
