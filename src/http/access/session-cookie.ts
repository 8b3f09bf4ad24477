import type { InboundRequest } from '../../http1/server/inbound-request.ts';

/**
 * The header that the console sends with its cookie. A page of another origin cannot send it without asking first,
 * and is never allowed to: so a cookie alone, which browsers add by themselves, proves nothing.
 */
export const SESSION_HEADER = 'x-console-session';

/** The header by which a session of a management key sends a generation as one of its account's keys. */
export const ACT_AS_HEADER = 'x-console-key';

const TOKEN = /^[0-9a-f]{64}$/;

/** The token of a request from the console; undefined if it has none, or did not come from the console. */
export function sessionTokenOf(request: InboundRequest): string | undefined {
  const cookies = request.header('cookie');
  if (cookies === undefined || !isFromConsole(request)) return undefined;
  const name = `${cookieName(request)}=`;
  const found = cookies.split('; ').find((cookie) => cookie.startsWith(name));
  const token = found?.slice(name.length);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/** Browsers say where a request comes from, on HTTPS and on loopback; the header proves it elsewhere. */
function isFromConsole(request: InboundRequest): boolean {
  const site = request.header('sec-fetch-site');
  return request.header(SESSION_HEADER) === '1' && (site === undefined || site === 'same-origin');
}

/** The cookie of a new session. Scripts cannot read it, and other sites cannot have it sent. */
export function sessionCookie(
  request: InboundRequest,
  { token, expiresAtMs, isHttps }: { token: string; expiresAtMs: number; isHttps: boolean },
): string {
  // A false `x-forwarded-proto` makes only the sender's own cookie unusable on plain HTTP.
  const isSecure = isHttps || request.header('x-forwarded-proto') === 'https';
  const expires = new Date(expiresAtMs).toUTCString();
  return `${cookieName(request)}=${token}; Path=/; HttpOnly; SameSite=Strict; Expires=${expires}${isSecure ? '; Secure' : ''}`;
}

/** Removes the cookie from the browser. */
export function noSessionCookie(request: InboundRequest): string {
  return `${cookieName(request)}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`;
}

/** Cookies know no ports: two gateways on one host need two names. */
function cookieName(request: InboundRequest): string {
  const port = /:(\d+)$/.exec(request.header('host') ?? '')?.[1];
  return port === undefined ? 'signalbox_session' : `signalbox_session_${port}`;
}
