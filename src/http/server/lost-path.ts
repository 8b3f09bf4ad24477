import type { FormatDialect } from '../../dialects/dialect.ts';
import { DIALECTS, REQUEST_FORMATS } from '../../dialects/dialects.ts';
import { lookUp } from '../../kit/collections/lookup.ts';

/** Paths that clients add to the base address: callers and upstreams of a format use the same. */
const CLIENT_PATHS: readonly string[] = [...REQUEST_FORMATS.map(pathOf), '/models'];

/** The only one that Anthropic clients alone use. */
const ANTHROPIC_PATH = pathOf(DIALECTS.messages);

function pathOf({ upstream }: Pick<FormatDialect, 'upstream'>): string {
  return upstream.path('', false);
}

/** Routes of the OpenAI and Anthropic interfaces that are not offered, by the first part of their path: what is. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  completions: 'Use /chat/completions.',
  images: 'Ask a model with image output on /chat/completions (`modalities`) or /responses.',
  audio: 'Send audio as a part of a message to a model that takes it.',
  moderations: 'There is no replacement.',
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
};

/** The same for paths below a route that is offered. */
const NOT_OFFERED_BELOW: readonly (readonly [prefix: string, instead: string])[] = [
  ['/messages/batches', 'Send the requests one by one; they are routed and limited separately.'],
  ['/responses/', 'Answers are not stored: send the conversation with each request, and keep what you need.'],
  ['/chat/completions/', 'Answers are not stored: keep what you need.'],
];

/**
 * Says what is wrong with a path that no route answers, and what to use instead; undefined if nothing is known about
 * it. `basePath`: where the routes are, such as `/api/v1`.
 */
export function hintForLostPath(path: string, basePath: string): string | undefined {
  return wrongBase(path, basePath) ?? notOffered(path, basePath);
}

/** A known path behind a wrong beginning: the base address that the client was given is wrong. */
function wrongBase(path: string, basePath: string): string | undefined {
  const known = CLIENT_PATHS.find((end) => path.endsWith(end) || path.includes(`${end}/`));
  if (known === undefined || isBelow(path, basePath, known)) return undefined;
  const beginning = path.slice(0, path.indexOf(known));
  const isDoubled = /\/v1\/(.*\/)?v1$/.test(beginning);
  const what = isDoubled ? 'The base address has `/v1` twice' : `${known} is at ${basePath}${known}`;
  return `${what}: ${baseFor(known, basePath)}`;
}

function isBelow(path: string, basePath: string, known: string): boolean {
  return [basePath, '/v1'].some((prefix) => path.startsWith(`${prefix}${known}`));
}

/** The Anthropic clients add `/v1` themselves. */
function baseFor(known: string, basePath: string): string {
  const anthropic = `the Anthropic SDK wants ${basePath.replace(/\/v1$/, '') || '/'} (it adds \`/v1\` itself)`;
  if (known === ANTHROPIC_PATH) return `as the path of the base address ${anthropic}.`;
  return `as the path of the base address the OpenAI SDK wants ${basePath}, ${anthropic}.`;
}

/** A route of the base interfaces that this gateway does not have. */
function notOffered(path: string, basePath: string): string | undefined {
  const prefix = [basePath, '/v1', ''].find((start) => path.startsWith(`${start}/`)) ?? '';
  const rest = path.slice(prefix.length);
  const below = NOT_OFFERED_BELOW.find(([start]) => rest.startsWith(start))?.[1];
  const instead = below ?? lookUp(NOT_OFFERED, rest.split('/')[1] ?? '');
  return instead === undefined ? undefined : `This gateway does not offer ${rest.slice(0, 64)}. ${instead}`;
}
