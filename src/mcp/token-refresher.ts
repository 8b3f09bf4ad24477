import { LRUCache } from 'lru-cache';
import type { Egress, EgressReply } from '../egress/egress.ts';
import { EgressProblem } from '../egress/egress-problem.ts';
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
import type { McpToken, McpTokens } from '../ports/byok-credentials.ts';
import type { Caller } from '../ports/caller.ts';
import { McpProblem } from './client/mcp-problem.ts';

export interface TokenRefresherDependencies {
  readonly tokens: McpTokens;
  readonly egress: Egress;
  readonly clock: Clock;
  /** Milliseconds of one refresh. */
  readonly refreshMs: () => number;
}

/** A token is refreshed this long before it expires. */
const EARLY_MS = 60_000;

const MAX_REPLY_BYTES = 65_536;

/** A token endpoint that could not be reached is not asked again for this time, by the same token. */
const FAILURE_MS = 30_000;
const MAX_FAILURES = 1000;

/** The tokens of users for MCP servers. Those with a refresh token are renewed, one refresh at a time for each. */
export class TokenRefresher {
  readonly #dependencies: TokenRefresherDependencies;
  /** Refreshes that run, by the ids of credentials. */
  readonly #running = new Map<string, Promise<string>>();
  /** Refreshes that reached no endpoint, by the ids and versions of credentials. */
  readonly #failures: LRUCache<string, McpProblem>;

  constructor(dependencies: TokenRefresherDependencies) {
    this.#dependencies = dependencies;
    this.#failures = new LRUCache({
      max: MAX_FAILURES,
      ttl: FAILURE_MS,
      ttlResolution: 0,
      perf: { now: () => dependencies.clock.monotonic() },
    });
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
    const { token } = reading;
    return this.#isFresh(token, refused)
      ? token.accessToken
      : this.#refreshOnce(stored, token, caller, label);
  }

  #isFresh({ accessToken, expiresAtMs }: OAuthToken, refused: string | undefined): boolean {
    if (accessToken === refused) return false;
    return expiresAtMs === undefined || this.#dependencies.clock.now() < expiresAtMs - EARLY_MS;
  }

  #refreshOnce(stored: McpToken, token: OAuthToken, caller: Caller, label: string): Promise<string> {
    const running = this.#running.get(stored.id);
    if (running !== undefined) return running;
    const refreshing = this.#refresh(stored, token, caller, label).finally(() => {
      this.#running.delete(stored.id);
    });
    this.#running.set(stored.id, refreshing);
    return refreshing;
  }

  async #refresh(stored: McpToken, token: OAuthToken, caller: Caller, label: string): Promise<string> {
    const { tokens, clock } = this.#dependencies;
    const attempt = `${stored.id} ${stored.version}`;
    try {
      const failure = this.#failures.get(attempt);
      if (failure !== undefined) throw failure;
      const refreshed = await this.#ask(token, stored.id);
      await tokens.replace(stored, writeOAuthToken(refreshed));
      return refreshed.accessToken;
    } catch (problem) {
      const isUnreachable = problem instanceof McpProblem && problem.reason === 'unreachable';
      if (isUnreachable && !this.#failures.has(attempt)) this.#failures.set(attempt, problem);
      // Another gateway may have used the refresh token a moment ago.
      const renewed = await tokens.tokenFor(caller, label, { isReadAgain: true });
      const reading = renewed === undefined ? undefined : readOAuthToken(renewed.reveal());
      const isRenewed = renewed?.id === stored.id && renewed.version > stored.version;
      if (isRenewed && reading !== undefined && 'token' in reading) return reading.token.accessToken;
      const isValid = token.expiresAtMs !== undefined && clock.now() < token.expiresAtMs;
      if (isValid && isUnreachable) return token.accessToken;
      throw problem;
    }
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
