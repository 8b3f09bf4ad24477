import type { Clock } from '../../kit/time/clock.ts';
import type { Change } from '../../ports/shared/changes.ts';
import type { ByokStore, StoredByokCredential } from '../../ports/tenancy/byok.ts';
import {
  type ByokCredential,
  type ByokCredentials,
  MCP_PROVIDER_PREFIX,
  type McpToken,
  type McpTokens,
} from '../../ports/tenancy/byok-credentials.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import { ConfirmedCache } from '../confirmed-cache.ts';
import type { Freshness } from '../freshness.ts';
import type { TokenName } from './replace-token.ts';
import type { SecretCipher } from './secret-cipher.ts';

const CACHE_ACCOUNTS = 10_000;

const NONE: readonly ByokCredential[] = [];

type ByokReads = Pick<ByokStore, 'listAll'>;
type SecretReader = Pick<SecretCipher, 'decrypt'>;

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
  /** Reads by account. */
  readonly #known: ConfirmedCache<CachedRead>;

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
    this.#known = new ConfirmedCache(CACHE_ACCOUNTS, freshness);
  }

  of(caller: Caller): readonly ByokCredential[] | Promise<readonly ByokCredential[]> {
    const reading = this.#known.current(caller.accountId);
    return reading?.isEmpty === true ? NONE : this.#fitting(caller, reading);
  }

  async #fitting(caller: Caller, current: CachedRead | undefined): Promise<readonly ByokCredential[]> {
    const reading = current ?? (await this.#confirmedOrRead(caller.accountId));
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
      : (this.#known.current(accountId) ?? (await this.#confirmedOrRead(accountId)));
    const { forMcp } = await reading.usable;
    const provider = `${MCP_PROVIDER_PREFIX}${label}`;
    const found = fitting(forMcp, caller).find((credential) => credential.provider === provider);
    return found && { id: found.id, version: found.version, reveal: found.reveal, accountId };
  }

  async replace({ id, accountId, version }: McpToken, secret: string): Promise<void> {
    await this.#replaceToken({ id, accountId, version }, secret);
    this.#known.forget(accountId);
  }

  /** Drops the cached credentials that a change concerns. */
  forget(change: Change): void {
    if (change.kind === 'credentials') this.#known.forget(change.accountId);
    else if (change.kind === 'anything') this.#known.doubtAll();
  }

  /** For an account whose cached credentials, if it has any, may have been changed by other processes. */
  async #confirmedOrRead(accountId: string): Promise<CachedRead> {
    const confirming = this.#known.confirmed(accountId);
    return (confirming && (await confirming)) ?? this.#read(accountId);
  }

  #read(accountId: string): CachedRead {
    const readAtMs = this.#clock.monotonic();
    const stored = this.#store.listAll(accountId).then((credentials) => this.#usableOf(credentials));
    const usable = stored.catch((error: unknown) => this.#doubtedOf(accountId, error));
    const reading: CachedRead = { usable, readAtMs, isPending: true, isEmpty: false };
    this.#known.set(accountId, reading);
    stored.then(
      ({ forModels }) => {
        reading.isPending = false;
        reading.isEmpty = forModels.length === 0;
        this.#known.answered(accountId, reading);
      },
      () => {
        this.#known.drop(accountId, reading);
      },
    );
    return reading;
  }

  /** After a read has failed with this error: the credentials from before changes were missed, while trusted. */
  #doubtedOf(accountId: string, error: unknown): Promise<UsableOfAccount> {
    const doubted = this.#known.doubted(accountId);
    if (doubted === undefined) throw error;
    return doubted.usable;
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
  isPending: boolean;
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
