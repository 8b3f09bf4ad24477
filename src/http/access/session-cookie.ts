import type { InboundRequest } from '../../net/http1/server/inbound-request.ts';

/**
 * The header that the console sends with its cookie. A page of another origin cannot send it without asking first,
 * and is never allowed to: so a cookie alone, which browsers add by themselves, proves nothing.
 */
export const SESSION_HEADER = 'x-console-session';

/** The header by which a session of a management key sends a generation as one of its account's keys. */
export const ACT_AS_HEADER = 'x-console-key';

const TOKEN = /^[0-9a-f]{64}$/;

/** The part of the server that decides how its cookies are called. */
export interface CookieServer {
  /** Certificate for HTTPS; undefined = plain HTTP. */
  readonly certificate?: unknown;
}

/**
 * The token of a request from the console; undefined if it has none, or did not come from the console. Two different
 * cookies of the name count as none: a neighbour of the host may have added one, so that the reader would act in a
 * session of the neighbour.
 */
export function sessionTokenOf(request: InboundRequest, server: CookieServer): string | undefined {
  const cookies = request.header('cookie');
  if (cookies === undefined || !isFromConsole(request)) return undefined;
  const name = `${cookieName(request, server)}=`;
  const tokens = new Set(
    cookies
      .split(';')
      .map((cookie) => cookie.trim())
      .filter((cookie) => cookie.startsWith(name))
      .map((cookie) => cookie.slice(name.length)),
  );
  const [token] = tokens;
  return token !== undefined && tokens.size === 1 && TOKEN.test(token) ? token : undefined;
}

/** Browsers say where a request comes from, on HTTPS and on loopback; the header proves it elsewhere. */
function isFromConsole(request: InboundRequest): boolean {
  const site = request.header('sec-fetch-site');
  return request.header(SESSION_HEADER) === '1' && (site === undefined || site === 'same-origin');
}

/** The cookie of a new session. Scripts cannot read it, and other sites cannot have it sent. */
export function sessionCookie(
  request: InboundRequest,
  server: CookieServer,
  { token, expiresAtMs }: { token: string; expiresAtMs: number },
): string {
  return cookieLine(request, server, token, `Expires=${new Date(expiresAtMs).toUTCString()}`);
}

export function noSessionCookie(request: InboundRequest, server: CookieServer): string {
  return cookieLine(request, server, '', 'Max-Age=0');
}

function cookieLine(request: InboundRequest, server: CookieServer, value: string, end: string): string {
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Strict', end];
  if (isHttps(request, server)) attributes.push('Secure');
  return `${cookieName(request, server)}=${value}; ${attributes.join('; ')}`;
}

/** A false `x-forwarded-proto` makes only the sender's own cookie unusable on plain HTTP. */
function isHttps(request: InboundRequest, { certificate }: CookieServer): boolean {
  return certificate !== undefined || request.header('x-forwarded-proto') === 'https';
}

/**
 * Cookies know no ports: two gateways on one host need two names. On HTTPS the prefix keeps other hosts of the same
 * domain, and plain HTTP, from setting the cookie.
 */
function cookieName(request: InboundRequest, server: CookieServer): string {
  const port = /:(\d+)$/.exec(request.header('host') ?? '')?.[1];
  const name = port === undefined ? 'signalbox_session' : `signalbox_session_${port}`;
  return isHttps(request, server) ? `__Host-${name}` : name;
}
