import { createHash, createSign } from 'node:crypto';
import type { GoogleServiceAccount } from '../../catalog/providers/credential.ts';
import { RecentMap } from '../../kit/collections/recent-map.ts';
import { isJsonObject, readJson } from '../../kit/json/json.ts';
import { numberAt, textAt } from '../../kit/json/members.ts';
import type { Timeouts } from '../../kit/net/timeouts.ts';
import type { Clock } from '../../kit/time/clock.ts';
import { type ReadLimits, readBeginning } from '../../net/transport/read-beginning.ts';
import type { Transport } from '../../net/transport/transport-call.ts';

/** A token was refused. `status`: of the token server's reply, whose text is dropped: it may quote the assertion. */
export class TokenRefused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'TokenRefused';
    this.status = status;
  }
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Lifetime of an assertion, and the longest and default lifetime of a token. */
const LIFETIME_SECONDS = 3600;
/** A token is no longer used this long before it expires, milliseconds. */
const MARGIN_MS = 5 * 60_000;
/** Accounts whose tokens, or refusals, are kept. */
const MAX_ACCOUNTS = 1000;
/** How long a refusal is cached, so that requests do not all ask a failing token server. */
const REFUSAL_MS = 2000;

/** The longest that a token is waited for; the provider's own limits may be shorter. */
const TIMEOUTS: Timeouts = { connect: 10_000, firstByte: 15_000, idle: 10_000, total: 20_000 };
const REPLY: ReadLimits = { maxBytes: 64 * 1024, maxMs: 10_000 };

interface Token {
  readonly text: string;
  /** Epoch milliseconds. */
  readonly usableUntil: number;
}

interface Refusal {
  readonly reason: unknown;
  /** Epoch milliseconds. */
  readonly until: number;
}

export interface GivenToken {
  readonly text: string;
  /** Set if it was cached and may have been withdrawn since: drops it, unless there is a newer one. */
  readonly forget?: () => void;
}

export interface TokenCall {
  readonly signal: AbortSignal;
  /** The account is a BYOK credential: the address that it names must be one that callers may name. */
  readonly isGuarded: boolean;
  /** Limits of the provider that is going to be called. */
  readonly timeouts: Timeouts;
}

/**
 * Access tokens of service accounts: fetched when needed, one request at a time for each account, and cached. Refusals
 * are cached briefly.
 */
export class GoogleTokens {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #tokens = new RecentMap<string, Token>(MAX_ACCOUNTS);
  readonly #refusals = new RecentMap<string, Refusal>(MAX_ACCOUNTS);
  readonly #flights = new Map<string, Promise<Token>>();

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /**
   * A token that is good for the next minutes. Rejects with TokenRefused, a TransportProblem, or the signal's reason.
   */
  async tokenOf(account: GoogleServiceAccount, call: TokenCall): Promise<GivenToken> {
    const { signal, isGuarded } = call;
    signal.throwIfAborted();
    const id = `${identityOf(account)} ${isGuarded}`;
    const now = this.#clock.now();
    const kept = this.#tokens.get(id);
    if (kept !== undefined && now < kept.usableUntil) {
      return { text: kept.text, forget: () => this.#forget(id, kept) };
    }
    const refusal = this.#refusals.get(id);
    if (refusal !== undefined && now < refusal.until) throw refusal.reason;
    const { text } = await withSignal(this.#flights.get(id) ?? this.#fly(id, account, call), signal);
    return { text };
  }

  #forget(id: string, token: Token): void {
    if (this.#tokens.get(id) === token) this.#tokens.delete(id);
  }

  #fly(id: string, account: GoogleServiceAccount, call: TokenCall): Promise<Token> {
    const flight = this.#fetch(account, call)
      .then((token) => {
        this.#tokens.set(id, token);
        return token;
      })
      .catch((reason: unknown) => {
        this.#refusals.set(id, { reason, until: this.#clock.now() + REFUSAL_MS });
        throw reason;
      })
      .finally(() => this.#flights.delete(id));
    // Prevents an unhandled rejection if all waiting requests have been aborted.
    flight.catch(() => {});
    this.#flights.set(id, flight);
    return flight;
  }

  /** Fetches a token for all waiting calls, so it has its own time limits and no signal of one of them. */
  async #fetch(
    account: GoogleServiceAccount,
    { isGuarded, timeouts: given }: Pick<TokenCall, 'isGuarded' | 'timeouts'>,
  ): Promise<Token> {
    const askedAt = this.#clock.now();
    const timeouts = shorterOf(TIMEOUTS, given);
    const reply = await this.#transport.open({
      url: account.tokenUri,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({
        grant_type: GRANT_TYPE,
        assertion: assertionOf(account, askedAt),
      }).toString(),
      timeouts,
      signal: new AbortController().signal,
      isGuarded,
      isRepeatable: true,
    });
    const text = await readBeginning(reply.chunks[Symbol.asyncIterator](), {
      ...REPLY,
      maxMs: Math.min(REPLY.maxMs, timeouts.firstByte),
    });
    const reading = readJson(text);
    const body = reading.ok && isJsonObject(reading.value) ? reading.value : undefined;
    const token = textAt(body, 'access_token');
    if (reply.status !== 200 || token === undefined || !/^[\x21-\x7e]+$/.test(token)) {
      throw new TokenRefused(reply.status, 'no access token was given for the service account');
    }
    const seconds = Math.min(numberAt(body, 'expires_in') ?? LIFETIME_SECONDS, LIFETIME_SECONDS);
    return { text: token, usableUntil: askedAt + seconds * 1000 - MARGIN_MS };
  }
}

function shorterOf(one: Timeouts, other: Timeouts): Timeouts {
  return {
    connect: Math.min(one.connect, other.connect),
    firstByte: Math.min(one.firstByte, other.firstByte),
    idle: Math.min(one.idle, other.idle),
    total: Math.min(one.total, other.total),
  };
}

/** The signed claim by which an account asks for a token (RFC 7523). */
function assertionOf(account: GoogleServiceAccount, nowMs: number): string {
  const issuedAt = Math.floor(nowMs / 1000);
  const { clientEmail, privateKey, privateKeyId, tokenUri } = account;
  const head = { alg: 'RS256', typ: 'JWT', ...(privateKeyId !== undefined && { kid: privateKeyId }) };
  const claims = {
    iss: clientEmail,
    scope: SCOPE,
    aud: tokenUri,
    iat: issuedAt,
    exp: issuedAt + LIFETIME_SECONDS,
  };
  const text = `${base64Url(head)}.${base64Url(claims)}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`;
}

function base64Url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** A hash, so that the cache key reveals nothing of the credential. */
function identityOf({ clientEmail, privateKey, tokenUri }: GoogleServiceAccount): string {
  return createHash('sha256').update([clientEmail, tokenUri, privateKey].join('\n')).digest('base64');
}

async function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
