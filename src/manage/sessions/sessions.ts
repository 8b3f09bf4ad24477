import type { Caller } from '../../ports/caller.ts';
import type { Session, SessionOwner, SessionStore } from '../../ports/sessions.ts';
import type { CallerDirectory } from '../keys/caller-directory.ts';
import { hashSecret } from '../keys/hash-secret.ts';
import { notFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';

/** How long a session lasts. It is not prolonged. */
export const SESSION_MS = 8 * 3_600_000;

/** How often the time of the last request is written. */
const SEEN_EVERY_MS = 60_000;

const MAX_USER_AGENT_CHARACTERS = 256;

export interface SessionParts {
  readonly store: SessionStore;
  readonly callers: Pick<CallerDirectory, 'findByHash'>;
  readonly sources: Sources;
}

/** The browser that signs in. */
export interface Browser {
  readonly userAgent: string | undefined;
  readonly address: string;
}

/** A session and the caller whom its requests act for. */
export interface SessionCaller {
  readonly session: Session;
  readonly caller: Caller;
}

/** Sign-ins to the console: a browser gets a token for some hours in exchange for a key. */
export class Sessions {
  readonly #store: SessionStore;
  readonly #callers: SessionParts['callers'];
  readonly #sources: Sources;

  constructor({ store, callers, sources }: SessionParts) {
    this.#store = store;
    this.#callers = callers;
    this.#sources = sources;
  }

  /** Signs in. The token is returned this once; its hash is all that is stored. */
  async open({ key, accountId }: Caller, { userAgent, address }: Browser): Promise<OpenedSession> {
    const now = this.#sources.clock.now();
    const token = this.#sources.secret();
    const session: Session = {
      id: this.#sources.uuid(),
      accountId,
      keyHash: key.hash,
      createdAtMs: now,
      lastSeenAtMs: now,
      expiresAtMs: Math.min(now + SESSION_MS, key.expiresAtMs ?? Number.POSITIVE_INFINITY),
      userAgent: userAgent?.slice(0, MAX_USER_AGENT_CHARACTERS) ?? null,
      address,
    };
    await this.#store.create(session, hashSecret(token));
    return { session, token };
  }

  /** The session of a token; undefined if it is unknown, ended or expired, or if its key is no longer valid. */
  async find(token: string): Promise<SessionCaller | undefined> {
    const now = this.#sources.clock.now();
    const session = await this.#store.find(hashSecret(token), now);
    if (session === undefined) return undefined;
    const caller = await this.#callers.findByHash(session.keyHash);
    if (caller === undefined) return undefined;
    if (now - session.lastSeenAtMs >= SEEN_EVERY_MS) await this.#store.noteSeen(session.id, now);
    return { session, caller };
  }

  /**
   * The caller as whom a session of a management key sends generations: management keys send none themselves.
   * Undefined if its account has no such key, or if the session is another key's.
   */
  async actingAs({ caller }: SessionCaller, keyHash: string): Promise<Caller | undefined> {
    if (!caller.key.isManagement) return undefined;
    const other = await this.#callers.findByHash(keyHash);
    return other?.accountId === caller.accountId && !other.key.isManagement ? other : undefined;
  }

  list(caller: Caller): Promise<readonly Session[]> {
    return this.#store.list(ownerOf(caller), this.#sources.clock.now());
  }

  /** Ends a session; 404 if the caller has no such session. */
  async end(caller: Caller, id: string): Promise<void> {
    if (!(await this.#store.delete(ownerOf(caller), id))) throw notFound();
  }
}

export interface OpenedSession {
  readonly session: Session;
  readonly token: string;
}

/** A management key sees the sessions of all keys of its account, another key its own. */
function ownerOf({ key, accountId }: Caller): SessionOwner {
  return key.isManagement ? { accountId } : { accountId, keyHash: key.hash };
}
