import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kit/time/clock.ts';
import type { ByokCredential, ByokStore } from '../../ports/byok.ts';
import type { Caller } from '../../ports/caller.ts';
import type { OwnCredential, OwnCredentials } from '../../ports/own-credentials.ts';
import type { Vault } from './vault.ts';

/** How long a credential may be used after another process took it away, milliseconds. */
const CACHE_MS = 5000;
const CACHE_ACCOUNTS = 10_000;

/** What most accounts have. */
const NONE: readonly OwnCredential[] = [];

/**
 * Finds the credentials that callers may use. Those of an account are remembered for a short time, their secrets
 * encrypted; changes made in this process show at once.
 */
export class OwnCredentialDirectory implements OwnCredentials {
  readonly #store: ByokStore;
  readonly #vault: Vault;
  readonly #known: LRUCache<string, Reading>;

  constructor(store: ByokStore, vault: Vault, clock: Clock) {
    this.#store = store;
    this.#vault = vault;
    this.#known = new LRUCache({
      max: CACHE_ACCOUNTS,
      ttl: CACHE_MS,
      ttlResolution: 0,
      perf: { now: () => clock.monotonic() },
    });
  }

  of(caller: Caller): readonly OwnCredential[] | Promise<readonly OwnCredential[]> {
    const reading = this.#known.get(caller.accountId) ?? this.#read(caller.accountId);
    return reading.isEmpty ? NONE : fitting(reading, caller);
  }

  /** Forgets what is remembered of an account, because one of its credentials was made, changed or deleted. */
  forget(accountId: string): void {
    this.#known.delete(accountId);
  }

  #read(accountId: string): Reading {
    const usable = this.#store.listAll(accountId).then((stored) => this.#usableOf(stored));
    const reading: Reading = { usable, isEmpty: false };
    this.#known.set(accountId, reading);
    usable.then(
      ({ length }) => {
        reading.isEmpty = length === 0;
      },
      () => {
        if (this.#known.peek(accountId) === reading) this.#known.delete(accountId);
      },
    );
    return reading;
  }

  #usableOf(stored: readonly ByokCredential[]): Usable[] {
    return stored
      .filter(({ disabled }) => !disabled)
      .map((credential) => ({ own: ownOf(credential, this.#vault), fits: filterOf(credential) }));
  }
}

/** What an account has, remembered from the beginning of the reading on: many requests at once cost one. */
interface Reading {
  readonly usable: Promise<readonly Usable[]>;
  /** Known to have none. */
  isEmpty: boolean;
}

async function fitting({ usable }: Reading, caller: Caller): Promise<readonly OwnCredential[]> {
  return (await usable).filter(({ fits }) => fits(caller)).map(({ own }) => own);
}

/** A credential that is switched on, and whom it is for. */
interface Usable {
  readonly own: OwnCredential;
  readonly fits: (caller: Caller) => boolean;
}

function ownOf(credential: ByokCredential, vault: Vault): OwnCredential {
  return {
    id: credential.id,
    provider: credential.provider,
    sortOrder: credential.sortOrder,
    isFallback: credential.isFallback,
    isRequired: credential.isRequired,
    isOwnOnly: credential.isByokOnly,
    declaredZeroRetention: credential.declaredZdr,
    allowedModels: setOf(credential.allowedModels),
    version: credential.version,
    reveal: () => vault.decrypt(credential),
  };
}

function filterOf(credential: ByokCredential): Usable['fits'] {
  const { workspaceId } = credential;
  const users = setOf(credential.allowedUserIds);
  const hashes = setOf(credential.allowedApiKeyHashes);
  return ({ key, workspaceId: ofCaller }) =>
    (workspaceId === null || workspaceId === ofCaller) &&
    (users === null || (key.creatorUserId !== null && users.has(key.creatorUserId))) &&
    (hashes === null || hashes.has(key.hash));
}

function setOf(list: readonly string[] | null): ReadonlySet<string> | null {
  return list === null ? null : new Set(list);
}
