/**
 * A change of stored state that a process may have cached. Plain data, so that it can be sent to another process. It
 * names what changed and not how: the listener drops what it has cached, and reads again.
 */
export type Change =
  /** A key was created, changed or deleted. */
  | { readonly kind: 'key'; readonly hash: string }
  /** A workspace or its budgets were changed, or it was deleted. */
  | { readonly kind: 'workspace'; readonly id: string }
  /** Guardrails of an account, or their assignments. */
  | { readonly kind: 'guardrails'; readonly accountId: string }
  | { readonly kind: 'credentials'; readonly accountId: string }
  /** A member of an account was changed or removed. */
  | { readonly kind: 'member'; readonly id: string }
  /** Providers of the gateway that the operator has added. */
  | { readonly kind: 'providers' }
  | { readonly kind: 'imported-usage' }
  | { readonly kind: 'classifications' }
  /** Changes may have been missed: anything may have changed. */
  | { readonly kind: 'anything' };

/** Hears of changes. It must not throw. */
export type ChangeListener = (change: Change) => void;

/** Changes of stored state, made by this process and by others that share the store. Delivered at least once. */
export interface Changes {
  /**
   * Delivers a change that this process has stored to its own listeners, before it returns. Other processes hear of it
   * from the store.
   */
  publish(change: Change): void;
  /** Returns a function that ends the subscription. */
  subscribe(listener: ChangeListener): () => void;
  /**
   * Every change that was stored before this moment has been delivered, whichever process made it. In milliseconds of
   * the monotonic clock of this process. A value that was read before it and not dropped since is as current as if it
   * had been read at this moment.
   */
  seenUntilMs(): number;
  /**
   * Resolves once everything that was stored before the call has been delivered. Concurrent calls share a question to
   * the store. Rejects when the store does not answer.
   */
  catchUp(): Promise<void>;
}
