import { RecentMap } from '../../kit/collections/recent-map.ts';
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
import type { Freshness } from '../freshness.ts';
import type { TokenName } from './replace-token.ts';
import type { SecretCipher } from './secret-cipher.ts';

const CACHE_ACCOUNTS = 10_000;

const NONE: readonly ByokCredential[] = [];

type ByokReads = Pick<ByokStore, 'listAll'>;
type SecretReader = Pick<SecretCipher, 'decrypt'>;

/** Stores a refreshed token for an MCP server. */
type ReplaceToken = (token: TokenName, secret: string) => Promise<void>;

/**
 * Finds the BYOK credentials that a caller may use. Caches those of an account until one changes, with encrypted
 * secrets.
 */
export class ByokDirectory implements ByokCredentials, McpTokens {
  readonly #store: ByokReads;
  readonly #cipher: SecretReader;
  readonly #replaceToken: ReplaceToken;
  readonly #clock: Clock;
  readonly #freshness: Freshness;
  /** By account. */
  readonly #known = new RecentMap<string, CachedRead>(CACHE_ACCOUNTS);
  /** Credentials from before changes were missed, by account: used only if they cannot be read again. */
  readonly #unconfirmed = new RecentMap<string, UnconfirmedRead>(CACHE_ACCOUNTS);

  constructor(
    store: ByokReads,
    cipher: SecretReader,
    replaceToken: ReplaceToken,
    clock: Clock,
    freshness: Freshness,
  ) {
    this.#store = store;
    this.#cipher = cipher;
    this.#replaceToken = replaceToken;
    this.#clock = clock;
    this.#freshness = freshness;
  }

  async of(caller: Caller): Promise<readonly ByokCredential[]> {
    const reading = this.#current(caller.accountId) ?? (await this.#confirmedOrRead(caller.accountId));
    return reading.isEmpty ? NONE : fitting((await reading.usable).forModels, caller);
  }

  async tokenFor(
    caller: Caller,
    label: string,
    { isReadAgain = false }: { readonly isReadAgain?: boolean } = {},
  ): Promise<McpToken | undefined> {
    const { accountId } = caller;
    const reading = isReadAgain
      ? this.#read(accountId)
      : (this.#current(accountId) ?? (await this.#confirmedOrRead(accountId)));
    const { forMcp } = await reading.usable;
    const provider = `${MCP_PROVIDER_PREFIX}${label}`;
    const found = fitting(forMcp, caller).find((credential) => credential.provider === provider);
    return found && { id: found.id, version: found.version, reveal: found.reveal, accountId };
  }

  async replace({ id, accountId, version }: McpToken, secret: string): Promise<void> {
    await this.#replaceToken({ id, accountId, version }, secret);
    this.#known.delete(accountId);
  }

  /** Drops the cached credentials that a change concerns. */
  forget(change: Change): void {
    if (change.kind === 'credentials') {
      this.#known.delete(change.accountId);
      this.#unconfirmed.delete(change.accountId);
    } else if (change.kind === 'anything') this.#doubtAll();
  }

  /** Changes were missed, as after a restart of the database: all credentials are read again. */
  #doubtAll(): void {
    for (const [accountId, { usable, readAtMs }] of this.#known.entries()) {
      this.#unconfirmed.set(accountId, { usable, currentUntilMs: this.#freshness.currentUntilMs(readAtMs) });
    }
    this.#known.clear();
  }

  #current(accountId: string): CachedRead | undefined {
    const known = this.#known.get(accountId);
    return known !== undefined && this.#freshness.isCurrent(known.readAtMs) ? known : undefined;
  }

  /** For an account whose cached credentials, if it has any, may have been changed by other processes. */
  async #confirmedOrRead(accountId: string): Promise<CachedRead> {
    const known = this.#known.get(accountId);
    if (known === undefined) return this.#read(accountId);
    await this.#freshness.confirm();
    const isKept =
      this.#known.get(accountId) === known &&
      this.#freshness.isTrusted(this.#freshness.currentUntilMs(known.readAtMs));
    return isKept ? known : this.#read(accountId);
  }

  #read(accountId: string): CachedRead {
    const readAtMs = this.#clock.monotonic();
    const stored = this.#store.listAll(accountId).then((credentials) => this.#usableOf(credentials));
    const usable = stored.catch((error: unknown) => this.#unconfirmedOf(accountId, error));
    const reading: CachedRead = { usable, readAtMs, isEmpty: false };
    this.#known.set(accountId, reading);
    stored.then(
      ({ forModels }) => {
        reading.isEmpty = forModels.length === 0;
        this.#unconfirmed.delete(accountId);
      },
      () => {
        if (this.#known.peek(accountId) === reading) this.#known.delete(accountId);
      },
    );
    return reading;
  }

  /** What to use after a read has failed with this error: the unconfirmed credentials while they are trusted. */
  #unconfirmedOf(accountId: string, error: unknown): Promise<UsableOfAccount> {
    const unconfirmed = this.#unconfirmed.get(accountId);
    if (unconfirmed === undefined || !this.#freshness.isTrusted(unconfirmed.currentUntilMs)) throw error;
    return unconfirmed.usable;
  }

  #usableOf(stored: readonly StoredByokCredential[]): UsableOfAccount {
    const usable = stored
      .filter(({ disabled }) => !disabled)
      .map((credential) => ({
        credential: byokCredentialOf(credential, this.#cipher),
        fits: filterOf(credential),
      }));
    const isForMcp = ({ credential }: Usable) => credential.provider.startsWith(MCP_PROVIDER_PREFIX);
    return { forModels: usable.filter((each) => !isForMcp(each)), forMcp: usable.filter(isForMcp) };
  }
}

/** A cached read; cached from its start, so that concurrent requests share it. */
interface CachedRead {
  readonly usable: Promise<UsableOfAccount>;
  readonly readAtMs: number;
  /** True once the read has found no usable credential for models. */
  isEmpty: boolean;
}

/** A read whose credentials may have changed since. */
interface UnconfirmedRead {
  readonly usable: Promise<UsableOfAccount>;
  readonly currentUntilMs: number;
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

function byokCredentialOf(credential: StoredByokCredential, cipher: SecretReader): ByokCredential {
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
    reveal: () => cipher.decrypt(credential),
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
