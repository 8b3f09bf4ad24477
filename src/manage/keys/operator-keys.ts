import type { UpdateKey } from '../../contract/keys/key.ts';
import { GatewayError } from '../../ir/errors.ts';
import { MAX_USD, type Nanos, parseUsd } from '../../kit/money.ts';
import type { ResetWindow } from '../../kit/time/windows.ts';
import type { Ledger } from '../../ports/ledger.ts';
import type { Account, Key, Tenancy, Workspace } from '../../ports/tenancy.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { checkName, refuseDeclared, requireFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { forgetSpending } from '../workspaces/forget-spending.ts';
import { keyChangeOf } from './account-keys.ts';
import { type KeyStatement, keyStatement, keyStatements } from './key-statement.ts';
import { type IssuedKey, newKey } from './new-key.ts';

/** Options of `keys create`. */
export interface NewKeyOptions {
  readonly name: string;
  /** Name of the account; default: the first one. */
  readonly account?: string | undefined;
  /** Slug of the workspace; default: the account's default one. */
  readonly workspace?: string | undefined;
  readonly isManagement?: boolean | undefined;
  /** Spending limit in USD, as typed. */
  readonly limit?: string | undefined;
  readonly limitReset?: ResetWindow | undefined;
  readonly includeByokInLimit?: boolean | undefined;
  readonly expiresAtMs?: number | null | undefined;
}

/** Least hex digits of a hash prefix. */
const MIN_PREFIX_DIGITS = 8;

/** Keys read for one prefix: enough to see that it is ambiguous within any account. */
const MAX_PREFIX_MATCHES = 100;

export interface OperatorKeysDependencies {
  readonly tenancy: Tenancy;
  readonly accounts: Accounts;
  readonly ledger: Pick<Ledger, 'spendingOf' | 'forget'>;
  readonly sources: Sources;
  /** Prefix of every secret. */
  readonly prefix: string;
  /** Called with the hash of every key that was created, changed or revoked. */
  readonly changed: (hash: string) => void;
}

/**
 * The keys of all accounts, for the command line; `AccountKeys` is for the management API. Refusals are GatewayErrors
 * whose message is shown to the operator.
 */
export class OperatorKeys {
  readonly #dependencies: OperatorKeysDependencies;

  constructor(dependencies: OperatorKeysDependencies) {
    this.#dependencies = dependencies;
  }

  async create(wanted: NewKeyOptions): Promise<IssuedKey> {
    checkName('name', wanted.name);
    const { sources, prefix, tenancy, changed } = this.#dependencies;
    const secret = prefix + sources.secret();
    const key = await this.#keyOf(secret, wanted);
    if (!(await tenancy.insertKey(key))) throw new Error('a new key has the hash of an old one');
    changed(key.hash);
    return { key, secret };
  }

  /** Creates the key with this secret unless it exists. Throws 409 if it exists as the other kind. */
  async ensure(secret: string, wanted: NewKeyOptions): Promise<Key> {
    const { tenancy, changed } = this.#dependencies;
    const key = await this.#keyOf(secret, wanted);
    if (await tenancy.insertKey(key)) changed(key.hash);
    const stored = await tenancy.findKey(key.hash);
    if (stored === undefined) throw new Error('a key that was stored is not there');
    if (stored.isManagement !== key.isManagement) {
      const kind = stored.isManagement ? 'a management key' : 'a plain key';
      throw new GatewayError('conflict', `${wanted.name}: this secret already is ${kind}; use another one`);
    }
    return stored;
  }

  /** Newest first, management keys included; of all accounts if none is named. */
  async list(accountName?: string): Promise<Key[]> {
    const { tenancy, accounts } = this.#dependencies;
    if (accountName === undefined) return tenancy.listKeys();
    return tenancy.listKeys((await accounts.require(accountName)).id);
  }

  /** Keys with what they have spent. */
  statementsOf(keys: readonly Key[]): Promise<KeyStatement[]> {
    return keyStatements(this.#dependencies.ledger, keys, this.#dependencies.sources.clock.now());
  }

  /** Deletes the key with this hash or unambiguous prefix. Returns it as it was. */
  async revoke(hashOrPrefix: string, accountName?: string): Promise<KeyStatement> {
    const { tenancy, accounts, ledger, sources, changed } = this.#dependencies;
    const account = accountName === undefined ? undefined : await accounts.require(accountName);
    const key = await this.#byHash(hashOrPrefix.toLowerCase(), account);
    refuseDeclared('key', key.fileMember);
    const statement = await keyStatement(ledger, key, sources.clock.now());
    await tenancy.deleteKey(key.hash);
    changed(key.hash);
    await forgetSpending(ledger, 'key', [key.hash], sources.clock.now());
    return statement;
  }

  /** Changes the key with this hash or unambiguous prefix. */
  async update(hashOrPrefix: string, wanted: UpdateKey, accountName?: string): Promise<KeyStatement> {
    const { tenancy, accounts, ledger, sources, changed } = this.#dependencies;
    if (wanted.name !== undefined) checkName('name', wanted.name);
    const account = accountName === undefined ? undefined : await accounts.require(accountName);
    const { hash, isManagement, fileMember } = await this.#byHash(hashOrPrefix.toLowerCase(), account);
    refuseDeclared('key', fileMember);
    const { name: _name, disabled: _disabled, ...limits } = wanted;
    if (isManagement && Object.keys(limits).length > 0) {
      throw new GatewayError('invalid-request', 'limit: a management key spends nothing; leave it out');
    }
    const nowMs = sources.clock.now();
    const key = requireFound(await tenancy.updateKey(hash, keyChangeOf(wanted), nowMs));
    changed(hash);
    return keyStatement(ledger, key, nowMs);
  }

  async #byHash(prefix: string, account: Account | undefined): Promise<Key> {
    if (!/^[0-9a-f]{1,64}$/.test(prefix) || prefix.length < MIN_PREFIX_DIGITS) {
      throw new GatewayError(
        'invalid-request',
        `hash: must be a key's hash or its first ${MIN_PREFIX_DIGITS} or more hex digits, as the list shows it`,
      );
    }
    const found = await this.#dependencies.tenancy.findKeysByHashPrefix(prefix, MAX_PREFIX_MATCHES);
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
    const { tenancy } = this.#dependencies;
    const workspace =
      slug === undefined
        ? await tenancy.defaultWorkspaceOf(account.id)
        : await tenancy.findWorkspace(account.id, slug);
    if (workspace === undefined) {
      throw new GatewayError(
        'not-found',
        `workspace: ${account.name} has no workspace ${slug ?? 'by default'}`,
      );
    }
    return workspace;
  }

  async #keyOf(secret: string, wanted: NewKeyOptions): Promise<Key> {
    const { accounts, sources } = this.#dependencies;
    const limitNanos = limitOf(wanted);
    const account = await accounts.require(wanted.account);
    const workspace = await this.#workspaceOf(account, wanted.workspace);
    return newKey(secret, {
      accountId: account.id,
      workspaceId: workspace.id,
      name: wanted.name,
      isManagement: wanted.isManagement ?? false,
      createdAtMs: sources.clock.now(),
      expiresAtMs: wanted.expiresAtMs ?? null,
      limitNanos,
      limitReset: wanted.limitReset ?? null,
      includeByokInLimit: wanted.includeByokInLimit ?? false,
    });
  }
}

function limitOf({ limit, limitReset, includeByokInLimit, isManagement }: NewKeyOptions): Nanos | null {
  if (limit === undefined) {
    if (limitReset === undefined && includeByokInLimit !== true) return null;
    throw new GatewayError('invalid-request', 'limit: is missing; the reset and BYOK settings need it');
  }
  if (isManagement === true) {
    throw new GatewayError('invalid-request', 'limit: a management key spends nothing; leave it out');
  }
  const nanos = parseUsd(limit);
  if (nanos !== undefined) return nanos;
  throw new GatewayError(
    'invalid-request',
    `limit: must be an amount in USD from 0 to ${MAX_USD}, such as 12.5`,
  );
}
