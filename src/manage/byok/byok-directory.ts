import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kit/time/clock.ts';
import type { ByokStore, StoredByokCredential } from '../../ports/byok.ts';
import {
  type ByokCredential,
  type ByokCredentials,
  MCP_PROVIDER_PREFIX,
  type McpToken,
  type McpTokens,
} from '../../ports/byok-credentials.ts';
import type { Caller } from '../../ports/caller.ts';
import type { Change } from '../../ports/changes.ts';
import type { Vault } from './vault.ts';

/** How long a change by another process may go unseen, milliseconds. */
const CACHE_MS = 5000;
const CACHE_ACCOUNTS = 10_000;

const NONE: readonly ByokCredential[] = [];

/**
 * Finds the BYOK credentials that a caller may use. Caches those of an account for a short time, with encrypted
 * secrets; changes made in this process are visible at once.
 */
export class ByokDirectory implements ByokCredentials, McpTokens {
  readonly #store: ByokStore;
  readonly #vault: Vault;
  readonly #clock: Clock;
  readonly #known: LRUCache<string, CachedRead>;

  constructor(store: ByokStore, vault: Vault, clock: Clock) {
    this.#store = store;
    this.#vault = vault;
    this.#clock = clock;
    this.#known = new LRUCache({
      max: CACHE_ACCOUNTS,
      ttl: CACHE_MS,
      ttlResolution: 0,
      perf: { now: () => clock.monotonic() },
    });
  }

  async of(caller: Caller): Promise<readonly ByokCredential[]> {
    const reading = this.#known.get(caller.accountId) ?? this.#read(caller.accountId);
    return reading.isEmpty ? NONE : fitting((await reading.usable).forModels, caller);
  }

  async tokenFor(
    caller: Caller,
    label: string,
    { isReadAgain = false }: { readonly isReadAgain?: boolean } = {},
  ): Promise<McpToken | undefined> {
    const { accountId } = caller;
    const known = isReadAgain ? undefined : this.#known.get(accountId);
    const { forMcp } = await (known ?? this.#read(accountId)).usable;
    const provider = `${MCP_PROVIDER_PREFIX}${label}`;
    const found = fitting(forMcp, caller).find((credential) => credential.provider === provider);
    return found && { id: found.id, version: found.version, reveal: found.reveal, accountId };
  }

  async replace({ id, accountId, version }: McpToken, secret: string): Promise<void> {
    const decide = (current: StoredByokCredential) =>
      current.version === version
        ? { encryptedSecret: this.#vault.encrypt(current, secret), version: version + 1 }
        : {};
    await this.#store.update(accountId, id, decide, this.#clock.now());
    this.#known.delete(accountId);
    await this.#store.purgeWipedSecrets();
  }

  /** Drops the cached credentials that a change concerns. */
  forget(change: Change): void {
    if (change.kind === 'credentials') this.#known.delete(change.accountId);
    else if (change.kind === 'anything') this.#known.clear();
  }

  #read(accountId: string): CachedRead {
    const usable = this.#store.listAll(accountId).then((stored) => this.#usableOf(stored));
    const reading: CachedRead = { usable, isEmpty: false };
    this.#known.set(accountId, reading);
    usable.then(
      ({ forModels }) => {
        reading.isEmpty = forModels.length === 0;
      },
      () => {
        if (this.#known.peek(accountId) === reading) this.#known.delete(accountId);
      },
    );
    return reading;
  }

  #usableOf(stored: readonly StoredByokCredential[]): UsableOfAccount {
    const usable = stored
      .filter(({ disabled }) => !disabled)
      .map((credential) => ({
        credential: byokCredentialOf(credential, this.#vault),
        fits: filterOf(credential),
      }));
    const isForMcp = ({ credential }: Usable) => credential.provider.startsWith(MCP_PROVIDER_PREFIX);
    return { forModels: usable.filter((each) => !isForMcp(each)), forMcp: usable.filter(isForMcp) };
  }
}

/** A cached read; cached from its start, so that concurrent requests share it. */
interface CachedRead {
  readonly usable: Promise<UsableOfAccount>;
  /** True once the read has found no usable credential for models. */
  isEmpty: boolean;
}

/** The enabled credentials of an account: those that routing sees, and tokens for MCP servers. */
interface UsableOfAccount {
  readonly forModels: readonly Usable[];
  readonly forMcp: readonly Usable[];
}

function fitting(usable: readonly Usable[], caller: Caller): readonly ByokCredential[] {
  return usable.filter(({ fits }) => fits(caller)).map(({ credential }) => credential);
}

/** An enabled credential, and the callers that may use it. */
interface Usable {
  readonly credential: ByokCredential;
  readonly fits: (caller: Caller) => boolean;
}

function byokCredentialOf(credential: StoredByokCredential, vault: Vault): ByokCredential {
  return {
    id: credential.id,
    provider: credential.provider,
    sortOrder: credential.sortOrder,
    isFallback: credential.isFallback,
    isRequired: credential.isRequired,
    isByokOnly: credential.isByokOnly,
    declaredZeroRetention: credential.declaredZdr,
    allowedModels: setOf(credential.allowedModels),
    version: credential.version,
    reveal: () => vault.decrypt(credential),
  };
}

function filterOf(credential: StoredByokCredential): Usable['fits'] {
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
