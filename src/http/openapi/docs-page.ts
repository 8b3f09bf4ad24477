import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import type { ListedRoute } from '../route.ts';
import { codeSamplesOf, SAMPLE_ORIGIN } from './code-samples.ts';
import { DOCS_SCRIPT } from './docs-script.ts';
import { DOCS_STYLE } from './docs-style.ts';
import { errorSection } from './error-section.ts';
import { codeBlock, escapeHtml, inline } from './html.ts';
import type { OpenApiDocument } from './openapi.ts';
import { mark, schemaTable, typeOf } from './schema-tables.ts';

/** A page and the policy that lets a browser show nothing but it. */
export interface DocsPage {
  /** Shared by all replies. */
  readonly html: Uint8Array;
  readonly contentSecurityPolicy: string;
}

interface Operation {
  readonly route: ListedRoute;
  readonly value: JsonObject;
}

const LANGUAGES = ['curl', 'JavaScript', 'Python'] as const;

/** Makes a readable page of an interface description: one file, nothing from outside. */
export function renderDocsPage(
  document: OpenApiDocument,
  routes: readonly ListedRoute[],
  basePath: string,
): DocsPage {
  const info = document.info as JsonObject;
  const operations = routes.flatMap((route): Operation[] => {
    const item = document.paths[route.path] as JsonObject | undefined;
    const value = item?.[route.method.toLowerCase()] as JsonObject | undefined;
    return value === undefined ? [] : [{ route, value }];
  });
  const groups = (document.tags as JsonObject[]).map(({ name, description }) => ({
    name: String(name),
    description: String(description),
    operations: operations.filter(({ route }) => route.tag === name),
  }));
  const schemas = Object.entries((document.components.schemas ?? {}) as JsonObject);
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)} API</title>
<style>${DOCS_STYLE}</style>
</head>
<body>
<nav class="nav" aria-label="Operations">
<div class="brand">${escapeHtml(info.title)} <span>${escapeHtml(info.version)}</span>
<button type="button" id="theme" hidden>Light or dark</button></div>
<details id="menu" open><summary>Contents and search</summary>
<input id="search" type="search" placeholder="Search, or press /" aria-label="Search operations">
<div id="found" role="status"></div>
<ul><li><a href="#start">Start</a></li><li><a href="#errors">Errors</a></li></ul>
${groups.map((group) => `<div data-group><h2>${escapeHtml(group.name)}</h2><ul>${group.operations.map(navigationEntry).join('')}</ul></div>`).join('\n')}
<ul><li><a href="#schemas">Schemas</a></li></ul>
</details>
</nav>
<main>
${startSection(info, basePath)}
${groups.map(({ name, description, operations: own }) => groupSection(name, description, own, basePath)).join('\n')}
${errorSection()}
<section id="schemas" data-group><h2>Schemas</h2>
<p class="lead">Objects that requests and answers share.</p>
${schemas.map(([name, schema]) => namedSchema(name, schema as JsonObject)).join('\n')}
</section>
</main>
<script>${DOCS_SCRIPT}</script>
</body>
</html>
`;
  return {
    html: Buffer.from(html),
    contentSecurityPolicy: [
      "default-src 'none'",
      `style-src '${hashOf(DOCS_STYLE)}'`,
      `script-src '${hashOf(DOCS_SCRIPT)}'`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  };
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function navigationEntry({ route, value }: Operation): string {
  return (
    `<li><a href="#${escapeHtml(value.operationId)}"><span class="method ${route.method}">${route.method}</span> ` +
    `${escapeHtml(route.path)}</a></li>`
  );
}

function startSection(info: JsonObject, basePath: string): string {
  const choices = LANGUAGES.map(
    (language, index) =>
      `<input type="radio" name="language" id="lang-${language}"${index === 0 ? ' checked' : ''}>` +
      `<label for="lang-${language}">${language}</label>`,
  );
  return `<section id="start"><h1>${escapeHtml(info.title)} API <span class="note">${escapeHtml(info.version)}</span></h1>
<p class="lead">${inline(info.summary)} ${inline(info.description)}</p>
<p class="lead">Base address: <code><span class="origin">${SAMPLE_ORIGIN}</span>${escapeHtml(basePath)}</code>. Send a key
as <code>Authorization: Bearer KEY</code> or <code>x-api-key: KEY</code>: an API key for generations, a management key
for everything an account owns. Examples read them from <code>SIGNALBOX_API_KEY</code> and
<code>SIGNALBOX_MANAGEMENT_KEY</code>. The same for machines: <a href="${escapeHtml(basePath)}/openapi.json">openapi.json</a>.</p>
<fieldset class="languages"><legend>Examples in</legend>${choices.join('')}</fieldset></section>`;
}

function groupSection(
  name: string,
  description: string,
  operations: readonly Operation[],
  basePath: string,
): string {
  return `<section data-group><h2>${escapeHtml(name)}</h2>
<p class="lead">${inline(description)}</p>
${operations.map((operation) => article(operation, basePath)).join('\n')}</section>`;
}

function article({ route, value }: Operation, basePath: string): string {
  const parameters = (value.parameters ?? []) as JsonObject[];
  const words = [
    route.path,
    route.method,
    route.summary,
    route.tag,
    ...parameters.map(({ name }) => String(name)),
  ];
  return `<article class="operation" id="${escapeHtml(value.operationId)}" data-search="${escapeHtml(words.join(' '))}">
<header><span class="method ${route.method}">${route.method}</span><h3>${escapeHtml(value.summary)}</h3></header>
<code class="path">${escapeHtml((route.mount === 'api' ? basePath : '') + route.path)}</code>
<div class="columns"><div>
<p class="note">${inline(value.description)}</p>
${parameters.length === 0 ? '' : `<details><summary>Parameters</summary>${parameterTable(parameters)}</details>`}
${bodyOf(value)}
<h4>Replies</h4>${statuses(value.responses as JsonObject)}
${replyOf(value.responses as JsonObject)}
</div><div>
<h4>Request</h4>
${codeSamplesOf(route, basePath).map(sample).join('\n')}
${otherBodies(route)}
<h4>Answer</h4>
${answer(route)}
</div></div>
</article>`;
}

function sample({ language, code }: { readonly language: string; readonly code: string }): string {
  return codeBlock(code, `sample ${language}`);
}

function otherBodies({ example }: ListedRoute): string {
  return Object.entries(example?.otherBodies ?? {})
    .map(
      ([what, body]) =>
        `<details><summary>${escapeHtml(what)}</summary>${codeBlock(JSON.stringify(body, null, 2), 'answer')}</details>`,
    )
    .join('\n');
}

function answer({ example }: ListedRoute): string {
  const value = example?.answer ?? null;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return codeBlock(text, 'answer');
}

function bodyOf(value: JsonObject): string {
  const content = (value.requestBody as JsonObject | undefined)?.content as JsonObject | undefined;
  return Object.entries(content ?? {})
    .map(
      ([type, media]) =>
        `<p>Body: <code>${escapeHtml(type)}</code> ${typeOf((media as JsonObject).schema)}</p>` +
        schemaTable((media as JsonObject).schema),
    )
    .join('');
}

function statuses(responses: JsonObject): string {
  const entries = Object.entries(responses).map(([status, response]) => {
    const meaning = escapeHtml((response as JsonObject).description);
    return status.startsWith('2')
      ? `<span title="${meaning}">${status}</span>`
      : `<a href="#error-${status}" title="${meaning}">${status}</a>`;
  });
  return `<div class="statuses">${entries.join('')}</div>`;
}

function replyOf(responses: JsonObject): string {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1] as JsonObject;
  const content = (success?.content ?? {}) as JsonObject;
  return Object.entries(content)
    .map(([type, media]) => {
      const schema: Json | undefined = (media as JsonObject).schema;
      const table = schemaTable(schema);
      const fields = table === '' ? '' : `<details><summary>Fields of the answer</summary>${table}</details>`;
      return `<p><code>${escapeHtml(type)}</code> ${typeOf(schema)}</p>${fields}`;
    })
    .join('');
}

function parameterTable(parameters: readonly JsonObject[]): string {
  const rows = parameters.map(
    ({ name, in: place, required, description, schema }) =>
      `<tr><td><code>${escapeHtml(name)}</code>${mark(required === true)}</td><td>${escapeHtml(place)}</td>` +
      `<td>${typeOf(schema)}</td><td>${inline(description)}</td></tr>`,
  );
  return (
    '<div class="wide"><table><tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr>' +
    `${rows.join('')}</table></div>`
  );
}

function namedSchema(name: string, schema: JsonObject): string {
  return `<article class="schema" id="schema-${escapeHtml(name)}" data-search="schema ${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3>
<p class="note">${inline(schema.description)}</p>
<details><summary>Fields</summary>${schemaTable(schema)}</details></article>`;
}
