import { GatewayError } from '../../ir/errors.ts';
import { maskedLabel } from '../../kit/text/masked-label.ts';
import type { Sessions } from '../../manage/sessions/sessions.ts';
import type { InboundRequest } from '../../net/http1/server/inbound-request.ts';
import type { KeyOwner } from '../../ports/generations/refused-requests.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import { ACT_AS_HEADER, type CookieServer, sessionTokenOf } from './session-cookie.ts';

/** Finds the caller of a secret. Undefined for one that is unknown, disabled, deleted or expired. */
export interface CallerDirectory {
  find(secret: string): Caller | undefined | Promise<Caller | undefined>;
  /** The key of a secret that was not found, for the record of the refusal. */
  refusedKey(secret: string): RefusedKey;
}

/** A key that is not valid. */
export interface RefusedKey {
  readonly hash: string;
  /** Undefined for a key that is unknown or deleted. */
  readonly owner: KeyOwner | undefined;
}

/** Finds callers by a secret, or by the session of a browser. */
export interface CallerSources extends CookieServer {
  readonly callers: CallerDirectory;
  readonly sessions: Pick<Sessions, 'find' | 'actingAs'>;
}

const BEARER = /^Bearer[ \t]+(\S+)$/i;
const NO_CREDENTIAL = /^(?:Bearer)?\s*$/i;
/** Shape of a secret: anything else is not looked up. */
const SECRET = /^[\x21-\x7e]{1,512}$/;

/** The caller of a request. Throws the same 401 for every key that is not valid, but for one of a provider. */
export function authenticate(
  request: InboundRequest,
  { callers, sessions, certificate }: CallerSources,
): Caller | Promise<Caller> {
  const token = tokenOf(request, { certificate });
  if (token !== undefined) return callerOfSession(request, token, sessions);
  const secret = secretOf(request);
  const found = SECRET.test(secret) ? callers.find(secret) : undefined;
  if (!(found instanceof Promise)) return requireCaller(found, secret);
  return found.then((caller) => requireCaller(caller, secret));
}

/** True if the request names no key of its own, but the session of a browser. */
export function isOfSession(request: InboundRequest, server: CookieServer): boolean {
  return tokenOf(request, server) !== undefined;
}

function tokenOf(request: InboundRequest, server: CookieServer): string | undefined {
  return hasKey(request) ? undefined : sessionTokenOf(request, server);
}

function hasKey(request: InboundRequest): boolean {
  return request.header('authorization') !== undefined || request.header('x-api-key') !== undefined;
}

async function callerOfSession(
  request: InboundRequest,
  token: string,
  sessions: CallerSources['sessions'],
): Promise<Caller> {
  const found = await sessions.find(token);
  if (found === undefined)
    throw unauthenticated('The session has ended, or its key was revoked. Sign in again');
  const keyHash = request.header(ACT_AS_HEADER);
  if (keyHash === undefined) return found.caller;
  const acting = await sessions.actingAs(found, keyHash);
  if (acting !== undefined) return acting;
  throw new GatewayError(
    'permission',
    `${ACT_AS_HEADER}: must be the hash of a key of your account that is in use; only sessions of management keys may name one`,
  );
}

function requireCaller(caller: Caller | undefined, secret: string): Caller {
  if (caller !== undefined) return caller;
  const provider = PROVIDER_KEYS.find(([beginning]) => secret.startsWith(beginning))?.[1];
  if (provider === undefined) throw invalidKey();
  throw unauthenticated(
    `Invalid API key: this looks like a key of ${provider}. Send a key of this gateway; ` +
      "the provider's key belongs in its configuration",
  );
}

/** How keys of providers begin that people send here by mistake. */
const PROVIDER_KEYS: readonly (readonly [beginning: string, provider: string])[] = [
  ['sk-ant-', 'Anthropic'],
  ['sk-proj-', 'OpenAI'],
  ['AIza', 'Google'],
  ['gsk_', 'Groq'],
  ['xai-', 'xAI'],
];

/** `Authorization: Bearer` or, in its absence, `x-api-key`. A repeated header is ambiguous and holds no secret. */
function secretOf(request: InboundRequest): string {
  const authorization = request.headerValues('authorization');
  const carriers = authorization.length > 0 ? authorization : request.headerValues('x-api-key');
  const value = carriers[0];
  if (carriers.length > 1) throw invalidKey();
  if (value === undefined || NO_CREDENTIAL.test(value)) {
    throw unauthenticated('Missing Authentication header');
  }
  return authorization.length > 0 ? (BEARER.exec(value)?.[1] ?? '') : value;
}

/** Characters of a secret that many keys to be tried may share. */
const BEGINNING_CHARACTERS = 16;

/** The beginning of the secret of a request; empty without one. */
export function secretBeginningOf(request: InboundRequest): string {
  try {
    return secretOf(request).slice(0, BEGINNING_CHARACTERS);
  } catch {
    return '';
  }
}

/** The key that a request was refused for; undefined if it names none. */
export function refusedKeyOf(request: InboundRequest, callers: CallerDirectory): RefusedKey | undefined {
  try {
    const secret = secretOf(request);
    return SECRET.test(secret) ? callers.refusedKey(secret) : undefined;
  } catch {
    return undefined;
  }
}

/** The masked secret of a request, as `keys list` shows it; undefined without one. */
export function labelOf(request: InboundRequest): string | undefined {
  try {
    return maskedLabel(secretOf(request));
  } catch {
    return undefined;
  }
}

function invalidKey(): GatewayError {
  return unauthenticated('Invalid API key');
}

/** HTTP wants every 401 to name the scheme of credentials. */
function unauthenticated(message: string): GatewayError {
  return new GatewayError('authentication', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
}
