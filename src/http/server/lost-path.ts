import { anthropicBase } from '../../contract/gateway/anthropic-base.ts';
import type { FormatDialect } from '../../dialects/dialect.ts';
import { DIALECTS, FORMATS, REQUEST_FORMATS } from '../../dialects/dialects.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import { nearestWord } from '../../kit/text/nearest-word.ts';

/** Paths that clients add to the base address: callers and upstreams of a format use the same. */
const CLIENT_PATHS: readonly string[] = [...REQUEST_FORMATS.map(pathOf), '/models'];

/** The only one of them that is used by Anthropic clients alone. */
const ANTHROPIC_PATH = pathOf(DIALECTS.messages);

function pathOf({ upstream }: Pick<FormatDialect, 'upstream'>): string {
  return upstream.path('', false);
}

/** Replacements for routes of OpenAI and Anthropic that are not offered, by the first part of their path. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  completions: 'Use /chat/completions.',
  images: 'Ask a model with image output on /chat/completions (`modalities`) or /responses.',
  audio: 'Send audio as a part of a message to a model that takes it.',
  moderations: 'Have a request judged by the plugin `moderation`, or by a guardrail.',
  batches: 'Send the requests one by one; they are routed and limited separately.',
  assistants: 'Use /responses and send the conversation with each request.',
  threads: 'Use /responses and send the conversation with each request.',
  conversations: 'Use /responses and send the conversation with each request.',
  vector_stores: 'There is no replacement.',
  fine_tuning: 'There is no replacement.',
  fine_tunes: 'There is no replacement.',
  uploads: 'Use /files.',
  realtime: 'Use /responses with `stream: true`.',
  evals: 'There is no replacement.',
  containers: 'There is no replacement.',
  videos: 'There is no replacement.',
  complete: 'Use /messages.',
  skills: 'There is no replacement.',
  organizations: 'Use the management routes: /keys, /workspaces, /analytics.',
  organization: 'Use the management routes: /keys, /workspaces, /analytics.',
  rerank: 'Have a model score the documents, with a JSON schema as `response_format`.',
  presets: 'Presets are in the configuration file; requests name one as `@preset/<name>`.',
  endpoints:
    'GET /models?zdr=true lists models that keep no prompts; `provider.zdr` of a request asks for one.',
  observability:
    'Traces go to /observability/destinations; /analytics has usage, GET /generation one generation, /metrics counts.',
  benchmarks: 'There is no replacement.',
  agents: 'Use /responses with server tools; the conversation is sent with each request.',
};

/** Replacements for paths below a route that is offered. */
const NOT_OFFERED_BELOW: readonly (readonly [prefix: string, instead: string])[] = [
  ['/messages/batches', 'Send the requests one by one; they are routed and limited separately.'],
  ['/responses/', 'Answers are not stored: send the conversation with each request, and keep what you need.'],
  ['/chat/completions/', 'Answers are not stored: keep what you need.'],
];

/** What a path gets about which nothing is known. */
const WHERE_ROUTES_ARE_LISTED = 'All routes are listed at /docs.';

/**
 * Says what is wrong with a path that no route answers, and what to use instead. `basePath`: where the routes are,
 * such as `/api/v1`. `routes`: their paths below it, such as `/keys/{hash}`.
 */
export function hintForLostPath(path: string, basePath: string, routes: readonly string[]): string {
  return (
    hintForGemini(path, basePath) ??
    bareBase(path, basePath) ??
    baseWithRoute(path, basePath) ??
    notOffered(path, basePath) ??
    wrongBase(path, basePath) ??
    nearMiss(path, basePath, routes) ??
    nearlyNotOffered(path, basePath) ??
    WHERE_ROUTES_ARE_LISTED
  );
}

/** The base address itself, or the beginning of it. */
function bareBase(path: string, basePath: string): string | undefined {
  const bare = path.replace(/\/+$/, '');
  if (bare === '' || (bare !== '/v1' && !`${basePath}/`.startsWith(`${bare}/`))) return undefined;
  const routes = `GET ${basePath}/models and POST ${basePath}${pathOf(DIALECTS.chat)}`;
  return `Routes are below ${basePath}, such as ${routes}; ${baseFor(basePath)} ${WHERE_ROUTES_ARE_LISTED}`;
}

/** A mistake is at most one of this many characters, so that few paths are taken for others. */
const CHARACTERS_PER_MISTAKE = 5;

/** A path that differs from a route's in a few letters, or one of whose first part does. */
function nearMiss(path: string, basePath: string, routes: readonly string[]): string | undefined {
  const rest = path.slice(prefixOf(path, basePath).length).replace(/\/+$/, '');
  const whole = nearestWord(
    rest,
    routes.filter((route) => !route.includes('{')),
    CHARACTERS_PER_MISTAKE,
  );
  if (whole !== undefined) return `Did you mean ${basePath}${whole}?`;
  const [, first = '', ...others] = rest.split('/');
  const names = new Set(routes.map((route) => route.split('/')[1] ?? ''));
  const meant = names.has(first) ? undefined : nearestWord(first, names, CHARACTERS_PER_MISTAKE);
  if (meant === undefined || others.length === 0) return undefined;
  return `Did you mean ${[basePath, meant, ...others].join('/').slice(0, MAX_SHOWN_CHARACTERS)}?`;
}

/** Paths may be as long as a request line: messages cut them. */
const MAX_SHOWN_CHARACTERS = 100;

function prefixOf(path: string, basePath: string): string {
  return [basePath, '/v1', ''].find((start) => path.startsWith(`${start}/`)) ?? '';
}

/** A known path behind another one: the base address that the client was given ends in a route. */
function baseWithRoute(path: string, basePath: string): string | undefined {
  const added = CLIENT_PATHS.find((end) => path.endsWith(end));
  if (added === undefined) return undefined;
  const base = path.slice(0, -added.length).replace(/\/v1$/, '');
  const route = CLIENT_PATHS.find((end) => base.endsWith(end));
  if (route === undefined) return undefined;
  return `The base address ends in ${route}; clients add the route themselves: ${baseFor(basePath, added)}`;
}

/** A known path behind a wrong beginning: the base address that the client was given is wrong. */
function wrongBase(path: string, basePath: string): string | undefined {
  const known = CLIENT_PATHS.find((end) => path.endsWith(end) || path.includes(`${end}/`));
  if (known === undefined || isBelow(path, basePath, known)) return undefined;
  const beginning = path.slice(0, path.indexOf(known));
  const isDoubled = /\/v1\/(.*\/)?v1$/.test(beginning);
  const what = isDoubled ? 'The base address has `/v1` twice' : `${known} is at ${basePath}${known}`;
  return `${what}: ${baseFor(basePath, known)}`;
}

function isBelow(path: string, basePath: string, known: string): boolean {
  return [basePath, '/v1'].some((prefix) => path.startsWith(`${prefix}${known}`));
}

function baseFor(basePath: string, known?: string): string {
  const anthropic = `the Anthropic SDK wants ${anthropicBase(basePath) || '/'} (it adds \`/v1\` itself)`;
  if (known === ANTHROPIC_PATH) return `as the path of the base address ${anthropic}.`;
  return `as the path of the base address the OpenAI SDK wants ${basePath}, ${anthropic}.`;
}

/** A method (`/models/gemini-3:generateContent`), or a resource of a version that only Gemini's interface has. */
const GEMINI_PATH =
  /\/models\/[^?]*:\w*(?:[cC]ontents?|[tT]okens)$|\/v1(?:alpha|beta\d?)\/(?:models|tunedModels|cachedContents|files)\b/;

/** A path of Gemini's clients: the gateway speaks their format only to upstreams. */
export function hintForGemini(path: string, basePath: string): string | undefined {
  if (!GEMINI_PATH.test(path)) return undefined;
  const routes = FORMATS.map((format) => `${basePath}${pathOf(format)}`);
  return `This gateway does not offer the Gemini format as input. Ask Gemini models at ${routes.join(', ')}.`;
}

/** A route of the base interfaces that this gateway does not have. */
function notOffered(path: string, basePath: string): string | undefined {
  const rest = path.slice(prefixOf(path, basePath).length);
  const below = NOT_OFFERED_BELOW.find(([start]) => rest.startsWith(start))?.[1];
  const instead = below ?? lookUp(NOT_OFFERED, rest.split('/')[1] ?? '');
  return instead === undefined ? undefined : `This gateway does not offer ${rest.slice(0, 64)}. ${instead}`;
}

/** `notOffered` for a path with a typing error, such as `/completion`. */
function nearlyNotOffered(path: string, basePath: string): string | undefined {
  const prefix = prefixOf(path, basePath);
  const [, first = '', ...others] = path.slice(prefix.length).split('/');
  const meant = nearestWord(first, Object.keys(NOT_OFFERED), CHARACTERS_PER_MISTAKE);
  return meant === undefined ? undefined : notOffered([prefix, meant, ...others].join('/'), basePath);
}
