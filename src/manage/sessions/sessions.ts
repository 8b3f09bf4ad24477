import type { Caller } from '../../ports/tenancy/caller.ts';
import type { Session, SessionOwner, SessionStore } from '../../ports/tenancy/sessions.ts';
import type { CallerDirectory } from '../keys/caller-directory.ts';
import { hashSecret } from '../keys/hash-secret.ts';
import { notFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { type SessionCaller, SessionCallers } from './session-callers.ts';

/** How long a session lasts. It is not prolonged. */
export const SESSION_MS = 8 * 3_600_000;

/** Open sessions of a key: a further sign-in ends the oldest. */
const MAX_SESSIONS_OF_KEY = 50;

const MAX_LISTED = 500;

const MAX_USER_AGENT_CHARACTERS = 256;

export interface SessionParts {
  readonly store: SessionStore;
  readonly callers: Pick<CallerDirectory, 'findByHash'>;
  readonly sources: Sources;
}

export interface Browser {
  readonly userAgent: string | undefined;
  readonly address: string;
}

/** Sign-ins to the console: a browser gets a token for some hours in exchange for a key. */
export class Sessions {
  readonly #store: SessionStore;
  readonly #callers: SessionParts['callers'];
  readonly #sessionCallers: SessionCallers;
  readonly #sources: Sources;

  constructor({ store, callers, sources }: SessionParts) {
    this.#store = store;
    this.#callers = callers;
    this.#sessionCallers = new SessionCallers({ store, callers, sources });
    this.#sources = sources;
  }

  /**
   * Signs in, and ends the oldest session of a key that has too many. The token is returned this once; its hash is all
   * that is stored.
   */
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
    await this.#store.create(session, hashSecret(token), MAX_SESSIONS_OF_KEY);
    return { session: { ...session, keyName: key.name }, token };
  }

  find(token: string): Promise<SessionCaller | undefined> {
    return this.#sessionCallers.find(token);
  }

  actingAs(session: SessionCaller, keyHash: string): Promise<Caller | undefined> {
    return this.#sessionCallers.actingAs(session, keyHash);
  }

  /** Newest first, without those beyond `MAX_LISTED`. */
  async list(caller: Caller): Promise<readonly NamedSession[]> {
    const sessions = await this.#store.list(ownerOf(caller), this.#sources.clock.now(), MAX_LISTED);
    return Promise.all(
      sessions.map(async (session) => ({
        ...session,
        keyName: (await this.#callers.findByHash(session.keyHash))?.key.name ?? null,
      })),
    );
  }

  /** Ends a session; 404 if the caller has no such session. */
  async end(caller: Caller, id: string): Promise<void> {
    if (!(await this.#store.delete(ownerOf(caller), id))) throw notFound();
  }
}

export interface NamedSession extends Session {
  /** Null = the key is no longer in use. */
  readonly keyName: string | null;
}

export interface OpenedSession {
  readonly session: NamedSession;
  readonly token: string;
}

/** A management key sees the sessions of all keys of its account, another key its own. */
function ownerOf({ key, accountId }: Caller): SessionOwner {
  return key.isManagement ? { accountId } : { accountId, keyHash: key.hash };
}
