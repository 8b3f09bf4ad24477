import { isJsonObject, type JsonObject, readJson } from '../json/json.ts';
import { compact, numberAt, textAt } from '../json/members.ts';
import { urlOf } from './url-of.ts';

export interface OAuthToken {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly scope: string | undefined;
  /** Epoch milliseconds; undefined = unknown. */
  readonly expiresAtMs: number | undefined;
}

const REQUIRED = ['access_token', 'refresh_token', 'token_endpoint', 'client_id'] as const;

/** Reads a token that is written as JSON; undefined = the text is no JSON object, but a plain token. */
export function readOAuthToken(
  text: string,
): { readonly token: OAuthToken } | { readonly problem: string } | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  const reading = readJson(text);
  if (!reading.ok || !isJsonObject(reading.value)) return { problem: 'is not valid JSON' };
  const { value } = reading;
  const missing = REQUIRED.filter((name) => textAt(value, name) === undefined);
  if (missing.length > 0) return { problem: `lacks ${missing.join(', ')}` };
  const tokenEndpoint = textAt(value, 'token_endpoint') ?? '';
  if (!/^https?:$/.test(urlOf(tokenEndpoint)?.protocol ?? '')) {
    return { problem: 'token_endpoint is not an http address' };
  }
  return {
    token: {
      accessToken: textAt(value, 'access_token') ?? '',
      refreshToken: textAt(value, 'refresh_token') ?? '',
      tokenEndpoint,
      clientId: textAt(value, 'client_id') ?? '',
      clientSecret: textAt(value, 'client_secret'),
      scope: textAt(value, 'scope'),
      expiresAtMs: timeOf(value),
    },
  };
}

export function writeOAuthToken(token: OAuthToken): string {
  return JSON.stringify(
    compact({
      access_token: token.accessToken,
      refresh_token: token.refreshToken,
      token_endpoint: token.tokenEndpoint,
      client_id: token.clientId,
      client_secret: token.clientSecret,
      scope: token.scope,
      expires_at: token.expiresAtMs === undefined ? undefined : Math.floor(token.expiresAtMs / 1000),
    }),
  );
}

/** The form by which a token is refreshed (RFC 6749, section 6). */
export function refreshForm({ refreshToken, clientId, clientSecret, scope }: OAuthToken): string {
  return new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...(scope !== undefined && { scope }),
  }).toString();
}

/** The token after a refresh; undefined = the reply has none. A refresh token that is not renewed stays valid. */
export function refreshedToken(token: OAuthToken, reply: JsonObject, nowMs: number): OAuthToken | undefined {
  const accessToken = textAt(reply, 'access_token');
  if (accessToken === undefined) return undefined;
  const seconds = numberAt(reply, 'expires_in');
  return {
    ...token,
    accessToken,
    refreshToken: textAt(reply, 'refresh_token') ?? token.refreshToken,
    expiresAtMs: seconds === undefined ? undefined : nowMs + Math.max(0, seconds) * 1000,
  };
}

/** Epoch seconds, or a timestamp. */
function timeOf(value: JsonObject): number | undefined {
  const seconds = numberAt(value, 'expires_at');
  if (seconds !== undefined) return seconds * 1000;
  const parsed = Date.parse(textAt(value, 'expires_at') ?? '');
  return Number.isNaN(parsed) ? undefined : parsed;
}
