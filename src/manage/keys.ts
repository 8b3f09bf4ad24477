import { GatewayError } from '../ir/errors.ts';
import { maskedLabel } from '../kit/masked-label.ts';
import type { Account, Key, Tenancy, Workspace } from '../ports/tenancy.ts';
import type { Accounts } from './accounts.ts';
import { hashSecret } from './hash-secret.ts';
import { checkName } from './names.ts';
import type { Sources } from './sources.ts';

/** A key that was just made, with the only copy of its secret that there will ever be. */
export interface IssuedKey {
  readonly key: Key;
  readonly secret: string;
}

export interface NewKey {
  readonly name: string;
  /** Name of the account; the first one when absent. */
  readonly account?: string;
  /** Slug of the workspace; the account's default one when absent. */
  readonly workspace?: string;
  readonly isManagement?: boolean;
  /** A spending limit in USD. Refused until limits are kept. */
  readonly limit?: number | string | null;
  readonly expiresAtMs?: number | null;
  readonly creatorUserId?: string | null;
}

/** The shortest beginning of a hash that may stand for the whole. */
const SHORTEST_PREFIX = 8;

/** Keys with the same beginning that are looked at: enough to tell one from more in any account. */
const MOST_ALIKE = 100;

/** Makes, lists and revokes keys. Refusals are GatewayErrors with a message for the person who asked. */
export class Keys {
  readonly #tenancy: Tenancy;
  readonly #accounts: Accounts;
  readonly #sources: Sources;
  readonly #prefix: string;
  readonly #changed: (hash: string) => void;

  /** `prefix` begins every secret; `changed` is told the hash of every key that was made or revoked. */
  constructor(
    tenancy: Tenancy,
    accounts: Accounts,
    sources: Sources,
    prefix: string,
    changed: (hash: string) => void,
  ) {
    this.#tenancy = tenancy;
    this.#accounts = accounts;
    this.#sources = sources;
    this.#prefix = prefix;
    this.#changed = changed;
  }

  async create(wanted: NewKey): Promise<IssuedKey> {
    checkName('name', wanted.name);
    if (wanted.limit !== undefined && wanted.limit !== null) {
      throw new GatewayError(
        'invalid-request',
        'limit: spending limits are not available in this version yet; create the key without one',
      );
    }
    const account = await this.#accounts.require(wanted.account);
    const workspace = await this.#workspaceOf(account, wanted.workspace);
    const secret = this.#prefix + this.#sources.secret();
    const key = this.#keyOf(secret, account, workspace, wanted);
    if (!(await this.#tenancy.insertKey(key))) throw new Error('a new key has the hash of an old one');
    this.#changed(key.hash);
    return { key, secret };
  }

  /** Makes sure that a key with exactly this secret exists. One of the other kind is a conflict. */
  async ensure(secret: string, wanted: NewKey): Promise<Key> {
    const account = await this.#accounts.require(wanted.account);
    const workspace = await this.#workspaceOf(account, wanted.workspace);
    const key = this.#keyOf(secret, account, workspace, wanted);
    if (await this.#tenancy.insertKey(key)) this.#changed(key.hash);
    const stored = await this.#tenancy.findKey(key.hash);
    if (stored === undefined) throw new Error('a key that was stored is not there');
    if (stored.isManagement !== key.isManagement) {
      const kind = stored.isManagement ? 'a management key' : 'a plain key';
      throw new GatewayError('conflict', `${wanted.name}: this secret already is ${kind}; use another one`);
    }
    return stored;
  }

  /** Newest first, management keys included; of every account when none is named. */
  async list(accountName?: string): Promise<Key[]> {
    if (accountName === undefined) return this.#tenancy.listKeys();
    return this.#tenancy.listKeys((await this.#accounts.require(accountName)).id);
  }

  /** Deletes the key with this hash, or the only one whose hash begins so. */
  async revoke(hashOrPrefix: string, accountName?: string): Promise<Key> {
    const account = accountName === undefined ? undefined : await this.#accounts.require(accountName);
    const key = await this.#byHash(hashOrPrefix.toLowerCase(), account);
    await this.#tenancy.deleteKey(key.hash);
    this.#changed(key.hash);
    return key;
  }

  async #byHash(prefix: string, account: Account | undefined): Promise<Key> {
    if (!/^[0-9a-f]{1,64}$/.test(prefix) || prefix.length < SHORTEST_PREFIX) {
      throw new GatewayError(
        'invalid-request',
        `hash: must be a key's hash or its first ${SHORTEST_PREFIX} or more hex digits, as the list shows it`,
      );
    }
    const found = await this.#tenancy.findKeysByHashPrefix(prefix, MOST_ALIKE);
    const [key, other] = found.filter(({ accountId }) => account === undefined || accountId === account.id);
    if (key === undefined) throw new GatewayError('not-found', `hash: no key's hash begins with ${prefix}`);
    if (other !== undefined) {
      throw new GatewayError(
        'conflict',
        `hash: more than one key's hash begins with ${prefix}; give more of it`,
      );
    }
    return key;
  }

  async #workspaceOf(account: Account, slug: string | undefined): Promise<Workspace> {
    const workspace =
      slug === undefined
        ? await this.#tenancy.defaultWorkspaceOf(account.id)
        : await this.#tenancy.findWorkspace(account.id, slug);
    if (workspace === undefined) {
      throw new GatewayError(
        'not-found',
        `workspace: ${account.name} has no workspace ${slug ?? 'by default'}`,
      );
    }
    return workspace;
  }

  #keyOf(secret: string, account: Account, workspace: Workspace, wanted: NewKey): Key {
    return {
      hash: hashSecret(secret),
      accountId: account.id,
      workspaceId: workspace.id,
      name: wanted.name,
      label: maskedLabel(secret),
      isManagement: wanted.isManagement ?? false,
      disabled: false,
      createdAtMs: this.#sources.clock.now(),
      updatedAtMs: null,
      expiresAtMs: wanted.expiresAtMs ?? null,
      creatorUserId: wanted.creatorUserId ?? null,
    };
  }
}
