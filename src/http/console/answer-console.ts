import type { InboundRequest } from '../../net/http1/server/inbound-request.ts';
import { FRAMELESS_HEADERS } from '../access/frameless-headers.ts';
import type { HttpExchange } from '../exchange/http-exchange.ts';
import { ASSETS_PATH, type ConsoleFile, type ConsoleFiles } from './console-files.ts';

/** First parts of the addresses that are views of the console. The page itself finds the view. */
const VIEWS: ReadonlySet<string> = new Set([
  '',
  'analytics',
  'apps',
  'classifiers',
  'configuration',
  'conversations',
  'credentials',
  'destinations',
  'files',
  'guardrails',
  'keys',
  'log',
  'members',
  'models',
  'more',
  'playground',
  'presets',
  'providers',
  'sessions',
  'sign-in',
  'start',
  'workspaces',
]);

/**
 * The page loads nothing from elsewhere, runs nothing that is not a file of its own, and cannot be framed. Pictures
 * and sounds of answers are shown from memory.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  'media-src data: blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const PAGE_HEADERS = {
  ...FRAMELESS_HEADERS,
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'same-origin',
};

/** A name changes with the content, so it never has to be asked for again. */
const ASSET_HEADERS = { 'Cache-Control': 'public, max-age=31536000, immutable' };

/** Answers a request for the console. Returns false for every other request. */
export function answerConsole({ request, reply }: HttpExchange, files: ConsoleFiles): boolean {
  if (!isRead(request)) return false;
  const path = pathOf(request);
  const acceptsGzip = doesAcceptGzip(request);
  if (path.startsWith(ASSETS_PATH)) {
    const asset = files.assets.get(path.slice(ASSETS_PATH.length));
    if (asset === undefined) return false;
    reply.file(...encoded(asset, acceptsGzip), ASSET_HEADERS);
    return true;
  }
  // Programs get what they got before there was a console: a route, or an error that leads on.
  if (!isForBrowser(request) || !isView(path)) return false;
  reply.file(...encoded(files.page, acceptsGzip), PAGE_HEADERS);
  return true;
}

/**
 * Answers a browser that was led to an address that is neither a view nor a route: the page says so, with status 404.
 * Returns false for programs, and for addresses of the interface, whose error says what was meant.
 */
export function answerLostBrowser(
  { request, reply }: HttpExchange,
  files: ConsoleFiles,
  basePath: string,
): boolean {
  const path = pathOf(request);
  const isOfInterface = [`${basePath}/`, '/v1/'].some((start) => path.startsWith(start));
  if (!isRead(request) || !isForBrowser(request) || isOfInterface) return false;
  reply.file(...encoded(files.page, doesAcceptGzip(request)), PAGE_HEADERS, 404);
  return true;
}

/** `//host/log` is none: as a link it would lead to that host. */
function isView(path: string): boolean {
  return !path.startsWith('//') && VIEWS.has(path.split('/')[1] ?? '');
}

function isRead({ method }: InboundRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

function pathOf({ url }: InboundRequest): string {
  return url.split('?', 1)[0] ?? '';
}

function isForBrowser(request: InboundRequest): boolean {
  return request.header('accept')?.includes('text/html') === true;
}

function doesAcceptGzip(request: InboundRequest): boolean {
  return request.header('accept-encoding')?.includes('gzip') === true;
}

type Encoded = readonly [bytes: Uint8Array, contentType: string, encoding: 'gzip' | undefined];

function encoded({ bytes, gzipped, contentType }: ConsoleFile, acceptsGzip: boolean): Encoded {
  return acceptsGzip ? [gzipped, contentType, 'gzip'] : [bytes, contentType, undefined];
}
