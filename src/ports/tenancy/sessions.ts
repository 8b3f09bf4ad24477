/** A sign-in to the console: a browser that acts for a key without holding its secret. */
export interface Session {
  /** Names the session in lists; says nothing about its token. */
  readonly id: string;
  readonly accountId: string;
  /** SHA-256 of the secret of the key that signed in. */
  readonly keyHash: string;
  readonly createdAtMs: number;
  /** Epoch milliseconds of a recent request; written at most once a minute. */
  readonly lastSeenAtMs: number;
  readonly expiresAtMs: number;
  /** User agent of the browser that signed in, cut; null = it sent none. */
  readonly userAgent: string | null;
  readonly address: string;
}

/** Whose sessions are read or ended: those of one key, or of all keys of an account. */
export interface SessionOwner {
  readonly accountId: string;
  /** Absent = of all keys. */
  readonly keyHash?: string | undefined;
}

/** Stores sessions. Expired ones are not returned. */
export interface SessionStore {
  /**
   * Also removes the expired sessions of all accounts, and the oldest of the same key beyond `maxOfKey`, never the new
   * one. `tokenHash`: SHA-256 of the token in the cookie.
   */
  create(session: Session, tokenHash: string, maxOfKey: number): Promise<void>;
  find(tokenHash: string, nowMs: number): Promise<Session | undefined>;
  noteSeen(id: string, atMs: number): Promise<void>;
  /** Newest first, no more than `limit`. */
  list(owner: SessionOwner, nowMs: number, limit: number): Promise<readonly Session[]>;
  /** Returns false if the owner has no such session. */
  delete(owner: SessionOwner, id: string): Promise<boolean>;
}
