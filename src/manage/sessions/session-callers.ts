import type { Caller } from '../../ports/tenancy/caller.ts';
import type { Session, SessionStore } from '../../ports/tenancy/sessions.ts';
import type { CallerDirectory } from '../keys/caller-directory.ts';
import { hashSecret } from '../keys/hash-secret.ts';
import type { Sources } from '../sources.ts';

/** How often the time of the last request is written. */
const SEEN_EVERY_MS = 60_000;

export interface SessionCaller {
  readonly session: Session;
  readonly caller: Caller;
}

export interface SessionCallersParts {
  readonly store: Pick<SessionStore, 'find' | 'noteSeen'>;
  readonly callers: Pick<CallerDirectory, 'findByHash'>;
  readonly sources: Pick<Sources, 'clock'>;
}

export class SessionCallers {
  readonly #store: SessionCallersParts['store'];
  readonly #callers: SessionCallersParts['callers'];
  readonly #sources: SessionCallersParts['sources'];

  constructor({ store, callers, sources }: SessionCallersParts) {
    this.#store = store;
    this.#callers = callers;
    this.#sources = sources;
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
}
