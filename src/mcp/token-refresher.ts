import { setTimeout as sleep } from 'node:timers/promises';
import { ExpiringMap } from '../kit/collections/expiring-map.ts';
import { RecentMap } from '../kit/collections/recent-map.ts';
import { isJsonObject, type JsonObject, readJson } from '../kit/json/json.ts';
import { textAt } from '../kit/json/members.ts';
import {
  type OAuthToken,
  readOAuthToken,
  refreshedToken,
  refreshForm,
  writeOAuthToken,
} from '../kit/net/oauth-token.ts';
import type { Clock } from '../kit/time/clock.ts';
import type { Egress, EgressReply } from '../net/egress/egress.ts';
import { EgressProblem } from '../net/egress/egress-problem.ts';
import type { McpToken, McpTokens } from '../ports/tenancy/byok-credentials.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import { McpProblem } from './client/mcp-problem.ts';

export interface TokenRefresherDependencies {
  readonly tokens: McpTokens;
  readonly egress: Egress;
  readonly clock: Clock;
  readonly refreshMs: () => number;
}

/** A token is refreshed this long before it expires. */
const EARLY_MS = 60_000;

const MAX_REPLY_BYTES = 65_536;

/** A token endpoint that could not be reached, or refused, is not asked again for this time with the same token. */
const FAILURE_MS = 30_000;
const MAX_FAILURES = 1000;

/** How often, and how many times, the store is read for a token that another gateway has got at the same moment. */
const REREAD_MS = 50;
const MAX_REREADS = 10;

/** Tokens that could not be stored. */
const MAX_UNSTORED = 1000;

/**
 * The tokens of users for MCP servers. Those with a refresh token are renewed, one refresh at a time for each. Gateways
 * that share a database share the tokens: a refresh token is mostly good for one use, so it is read past the cache.
 */
export class TokenRefresher {
  readonly #dependencies: TokenRefresherDependencies;
  /** Refreshes that run, by the ids of credentials. */
  readonly #running = new Map<string, Promise<string>>();
  /** Refreshes that failed, by the ids and versions of credentials. */
  readonly #failures: ExpiringMap<string, McpProblem>;
  /** New tokens that the store did not take, by the same: the old refresh token is used up. */
  readonly #unstored = new RecentMap<string, OAuthToken>(MAX_UNSTORED);

  constructor(dependencies: TokenRefresherDependencies) {
    this.#dependencies = dependencies;
    this.#failures = new ExpiringMap(MAX_FAILURES, { clock: dependencies.clock, lifetimeMs: FAILURE_MS });
  }

  /**
   * The access token of a caller for a server; undefined = there is none. `refused`: an access token that the server
   * has refused. Rejects with an McpProblem that says what to do.
   */
  async accessTokenFor(caller: Caller, label: string, refused?: string): Promise<string | undefined> {
    const stored = await this.#dependencies.tokens.tokenFor(caller, label);
    if (stored === undefined) return undefined;
    const secret = stored.reveal();
    const reading = readOAuthToken(secret);
    if (reading === undefined || 'problem' in reading) return secret;
    const unstored = this.#unstored.get(versionOf(stored));
    if (unstored !== undefined) void this.#keep(stored, unstored);
    const token = unstored ?? reading.token;
    return this.#isFresh(token, refused)
      ? token.accessToken
      : this.#refreshOnce(stored, { caller, label, refused, cached: token });
  }

  #isFresh({ accessToken, expiresAtMs }: OAuthToken, refused: string | undefined): boolean {
    if (accessToken === refused) return false;
    return expiresAtMs === undefined || this.#dependencies.clock.now() < expiresAtMs - EARLY_MS;
  }

  #refreshOnce({ id }: McpToken, wanted: WantedToken): Promise<string> {
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    const refreshing = this.#refresh(id, wanted).finally(() => {
      this.#running.delete(id);
    });
    this.#running.set(id, refreshing);
    return refreshing;
  }

  /** The token as it is stored now, or as it is known here if it could not be stored. */
  async #current(id: string, { caller, label }: WantedToken): Promise<CurrentToken | undefined> {
    const stored = await this.#dependencies.tokens.tokenFor(caller, label, { isReadAgain: true });
    const reading = stored?.id === id ? readOAuthToken(stored.reveal()) : undefined;
    if (stored === undefined || reading === undefined || 'problem' in reading) return undefined;
    return { stored, token: this.#unstored.get(versionOf(stored)) ?? reading.token };
  }

  async #refresh(id: string, wanted: WantedToken): Promise<string> {
    let current: CurrentToken | undefined;
    try {
      current = await this.#current(id, wanted);
    } catch {
      // A token that could not be stored afterwards is not refreshed while that can be avoided.
      if (this.#isValid(wanted.cached, wanted.refused)) return wanted.cached.accessToken;
      throw new McpProblem('unreachable', UNREADABLE);
    }
    if (current === undefined) throw new McpProblem('refused', GONE);
    const { stored, token } = current;
    // Another gateway has refreshed it.
    if (this.#isFresh(token, wanted.refused)) return token.accessToken;
    const version = versionOf(stored);
    try {
      const failure = this.#failures.get(version);
      if (failure !== undefined) throw failure;
      const refreshed = await this.#ask(token, id);
      await this.#keep(stored, refreshed);
      return refreshed.accessToken;
    } catch (problem) {
      if (!(problem instanceof McpProblem)) throw problem;
      const isKnown = this.#failures.peek(version) !== undefined;
      const renewed = isKnown ? undefined : await this.#renewedElsewhere(stored, wanted, problem);
      if (renewed !== undefined) return renewed;
      if (!isKnown) this.#failures.set(version, problem);
      if (problem.reason === 'unreachable' && this.#isValid(token, wanted.refused)) return token.accessToken;
      throw problem;
    }
  }

  /** Stores new tokens. If that fails they are used all the same, and stored when they are used next. */
  async #keep(stored: McpToken, refreshed: OAuthToken): Promise<void> {
    try {
      await this.#dependencies.tokens.replace(stored, writeOAuthToken(refreshed));
      this.#unstored.delete(versionOf(stored));
    } catch {
      this.#unstored.set(versionOf(stored), refreshed);
    }
  }

  /** The access token that another gateway got with a refresh token which the endpoint has therefore refused. */
  async #renewedElsewhere(
    { id, version }: McpToken,
    wanted: WantedToken,
    { reason }: McpProblem,
  ): Promise<string | undefined> {
    const most = reason === 'refused' ? MAX_REREADS : 1;
    for (let time = 0; time < most; time++) {
      // The other gateway may not have stored it yet.
      if (time > 0) await sleep(REREAD_MS);
      const current = await this.#current(id, wanted);
      if (current === undefined) return undefined;
      if (current.stored.version > version) return current.token.accessToken;
    }
    return undefined;
  }

  /** True if the server may still take a token. */
  #isValid({ accessToken, expiresAtMs }: OAuthToken, refused: string | undefined): boolean {
    if (accessToken === refused) return false;
    return expiresAtMs !== undefined && this.#dependencies.clock.now() < expiresAtMs;
  }

  /** Asks the token endpoint. Rejects with an McpProblem. */
  async #ask(token: OAuthToken, id: string): Promise<OAuthToken> {
    const { egress, clock, refreshMs } = this.#dependencies;
    let reply: EgressReply;
    try {
      reply = await egress.fetch(token.tokenEndpoint, {
        method: 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
        body: refreshForm(token),
        limits: { totalMs: refreshMs(), maxBytes: MAX_REPLY_BYTES, maxRedirects: 0 },
        signal: new AbortController().signal,
      });
    } catch (problem) {
      if (!(problem instanceof EgressProblem)) throw problem;
      const message = `the token for the server could not be refreshed: ${problem.message}; try again later`;
      throw new McpProblem('unreachable', message);
    }
    const body = bodyOf(reply);
    const refreshed = reply.status === 200 ? refreshedToken(token, body, clock.now()) : undefined;
    if (refreshed !== undefined) return refreshed;
    if (reply.status >= 500) {
      const message = `the token for the server could not be refreshed: its token endpoint answered with status`;
      throw new McpProblem('unreachable', `${message} ${reply.status}; try again later`);
    }
    throw new McpProblem('refused', refusalOf(reply.status, body, id));
  }
}

/** Who needs a token, for which server. `refused`: an access token that the server has refused. */
interface WantedToken {
  readonly caller: Caller;
  readonly label: string;
  readonly refused: string | undefined;
  readonly cached: OAuthToken;
}

interface CurrentToken {
  readonly stored: McpToken;
  readonly token: OAuthToken;
}

const UNREADABLE = 'the token for the server cannot be read at the moment: try again later';

const GONE = 'the token for the server was deleted or replaced while it was refreshed: try again';

function versionOf({ id, version }: McpToken): string {
  return `${id} ${version}`;
}

/** Error codes of OAuth. */
const ERROR_CODE = /^[a-z_]{1,64}$/;

function refusalOf(status: number, body: JsonObject, id: string): string {
  const code = textAt(body, 'error') ?? '';
  const reason = ERROR_CODE.test(code) ? code : `status ${status}`;
  return `the token for the server was not refreshed (${reason}): authorize again and store the new token with PATCH /byok/${id}`;
}

function bodyOf({ bytes, isCut }: EgressReply): JsonObject {
  const reading = isCut ? undefined : readJson(bytes.toString('utf8'));
  return reading?.ok === true && isJsonObject(reading.value) ? reading.value : {};
}
