import type { InboundRequest } from '../../net/http1/server/inbound-request.ts';
import { ACT_AS_HEADER, SESSION_HEADER } from './session-cookie.ts';
import { vendorHeader } from './vendor-header.ts';

/** Which browser origins may call the gateway, and what they may read. */
export interface CorsRules {
  readonly origins: ReadonlySet<string>;
  /** Value of `Access-Control-Expose-Headers`. */
  readonly exposed: string;
}

/** Any origin may call. Requests carry keys and no cookies, so a page has no rights but those of the key it has. */
const ANY_ORIGIN = '*';

/** Headers of replies that a page may read besides the few that every page may. */
const EXPOSED = [
  'request-id',
  'x-request-id',
  'X-Generation-Id',
  'Server-Timing',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

const VENDOR_EXPOSED = ['Cache-Status', 'Cache-TTL', 'Cache-Age', 'Cache-Source-Id'];

/** The rules for the origins of the configuration; undefined if there are none, so that nothing is looked at. */
export function corsRulesOf(origins: readonly string[], vendor: string): CorsRules | undefined {
  if (origins.length === 0) return undefined;
  return {
    // As browsers write them: lower case, without the usual port.
    origins: new Set(origins.map((origin) => (origin === ANY_ORIGIN ? origin : new URL(origin).origin))),
    exposed: [...EXPOSED, ...VENDOR_EXPOSED.map((name) => vendorHeader(vendor, name))].join(', '),
  };
}

/** Adds the headers of a reply to an allowed origin. False if the request is of no browser, or not allowed. */
export function allowOrigin(exchange: CorsExchange, { origins, exposed }: CorsRules): boolean {
  const origin = exchange.request.header('origin');
  if (origin === undefined) return false;
  const isAny = origins.has(ANY_ORIGIN);
  exchange.addHeader('Vary', 'Origin');
  if (!isAny && !origins.has(origin)) return false;
  exchange.addHeader('Access-Control-Allow-Origin', isAny ? ANY_ORIGIN : origin);
  exchange.addHeader('Access-Control-Expose-Headers', exposed);
  return true;
}

/** Hosts that no record of DNS can point elsewhere: addresses, and the machine itself. */
const FIXED_HOST = /^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * True without an Origin, for an allowed Origin, and for the gateway's own pages if the host is an IP address
 * or localhost: any other host name could be rebound to the gateway (DNS rebinding).
 */
export function mayCall(request: InboundRequest, rules: CorsRules | undefined): boolean {
  const origin = request.header('origin');
  if (
    origin === undefined ||
    rules?.origins.has(ANY_ORIGIN) === true ||
    rules?.origins.has(origin) === true
  ) {
    return true;
  }
  const host = request.header('host') ?? '';
  return FIXED_HOST.test(host) && (origin === `http://${host}` || origin === `https://${host}`);
}

interface CorsExchange {
  readonly request: InboundRequest;
  addHeader(name: string, value: string): void;
}

/** How long a browser may remember the answer to a preflight, seconds. */
const PREFLIGHT_SECONDS = '7200';

const CONSOLE_HEADERS: ReadonlySet<string> = new Set([SESSION_HEADER, ACT_AS_HEADER]);

const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]{1,4096}$/;

export function isPreflight(request: InboundRequest): boolean {
  return request.method === 'OPTIONS' && request.header('access-control-request-method') !== undefined;
}

/**
 * Headers of the answer to a preflight of an allowed origin. The headers asked for are allowed, because SDKs add their
 * own, but for those of the console: no page of another origin acts in its sessions.
 */
export function preflightHeaders(request: InboundRequest): Readonly<Record<string, string>> {
  const asked = (request.header('access-control-request-headers') ?? '')
    .split(',')
    .filter((name) => !CONSOLE_HEADERS.has(name.trim().toLowerCase()))
    .join(',');
  return {
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    ...(HEADER_NAMES.test(asked) && { 'Access-Control-Allow-Headers': asked }),
    'Access-Control-Max-Age': PREFLIGHT_SECONDS,
  };
}
