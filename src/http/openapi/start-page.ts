import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { anthropicBase } from '../../contract/gateway/anthropic-base.ts';
import { programVersion } from '../../kit/program-version.ts';
import type { HttpSettings } from '../dependencies.ts';

export const startSchema = Type.Object({
  name: Type.Literal('Signalbox'),
  version: Type.String(),
  api: Type.String({
    description: 'Path of the interface: what the base address of OpenAI clients ends in.',
  }),
  models: Type.String({ description: 'Path of the models that can be asked for.' }),
  docs: Type.String({ description: 'Path of the description of the interface, as a page.' }),
  openapi: Type.String({ description: 'The same as an OpenAPI document.' }),
});

/** The start page, and the same for programs. */
export interface StartPage {
  readonly html: Uint8Array;
  readonly contentSecurityPolicy: string;
  readonly addresses: Static<typeof startSchema>;
}

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.6 system-ui, sans-serif; margin: 0 auto; max-width: 40rem; padding: 3rem 1.5rem; }
code { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
dt { font-weight: 600; margin-top: 1rem; } dd { margin: 0; }
`;

/** Leads a person or a program that knows only the address of the gateway to its interface and its documentation. */
export function startPage({ basePath }: Pick<HttpSettings, 'basePath'>): StartPage {
  const addresses = {
    name: 'Signalbox',
    version: programVersion(),
    api: basePath,
    models: `${basePath}/models`,
    docs: '/docs',
    openapi: `${basePath}/openapi.json`,
  } as const;
  return {
    html: Buffer.from(pageOf(addresses)),
    contentSecurityPolicy: `default-src 'none'; style-src 'sha256-${sha256(STYLE)}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    addresses,
  };
}

function pageOf({ version, api, models, docs, openapi }: StartPage['addresses']): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signalbox</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Signalbox ${version}</h1>
<p>This gateway answers in the formats of OpenAI and Anthropic.</p>
<dl>
<dt>Documentation</dt><dd><a href="${docs}">${docs}</a>, with examples for every route</dd>
<dt>Models</dt><dd><a href="${models}">${models}</a></dd>
<dt>OpenAI SDK</dt><dd>the base address is this one and <code>${api}</code></dd>
<dt>Anthropic SDK</dt><dd>the base address is this one and <code>${anthropicBase(api) || '/'}</code></dd>
<dt>OpenAPI document</dt><dd><a href="${openapi}">${openapi}</a></dd>
</dl>
</body>
</html>
`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
