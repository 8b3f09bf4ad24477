import { GatewayError } from '../../ir/errors.ts';
import { MOST_USD, type Nanos, parseUsd } from '../../kit/money.ts';
import type { ResetWindow } from '../../kit/time/windows.ts';
import type { Ledger } from '../../ports/ledger.ts';
import type { Account, Key, Tenancy, Workspace } from '../../ports/tenancy.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { checkName } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { forgetSpending } from '../workspaces/forget-spending.ts';
import { type KeyStatement, keyStatement, keyStatements } from './key-statement.ts';
import { type IssuedKey, newKey } from './new-key.ts';

export interface NewKey {
  readonly name: string;
  /** Name of the account; the first one when absent. */
  readonly account?: string;
  /** Slug of the workspace; the account's default one when absent. */
  readonly workspace?: string;
  readonly isManagement?: boolean;
  /** The most that it may spend, USD, as it was typed. */
  readonly limit?: string;
  readonly limitReset?: ResetWindow;
  readonly includeByokInLimit?: boolean;
  readonly expiresAtMs?: number | null;
}

/** The shortest beginning of a hash that may stand for the whole. */
const SHORTEST_PREFIX = 8;

/** Keys with the same beginning that are looked at: enough to tell one from more in any account. */
const MOST_ALIKE = 100;

/** What keys are kept with. */
export interface KeysDependencies {
  readonly tenancy: Tenancy;
  readonly accounts: Accounts;
  readonly ledger: Pick<Ledger, 'spendingOf' | 'forget'>;
  readonly sources: Sources;
  /** What begins every secret. */
  readonly prefix: string;
  /** Told the hash of every key that was made or revoked. */
  readonly changed: (hash: string) => void;
}

/** The keys of all accounts, for the operator. Refusals are GatewayErrors with a message for the person who asked. */
export class Keys {
  readonly #parts: KeysDependencies;

  constructor(parts: KeysDependencies) {
    this.#parts = parts;
  }

  async create(wanted: NewKey): Promise<IssuedKey> {
    checkName('name', wanted.name);
    const { sources, prefix, tenancy, changed } = this.#parts;
    const secret = prefix + sources.secret();
    const key = await this.#keyOf(secret, wanted);
    if (!(await tenancy.insertKey(key))) throw new Error('a new key has the hash of an old one');
    changed(key.hash);
    return { key, secret };
  }

  /** Makes sure that a key with exactly this secret exists. One of the other kind is a conflict. */
  async ensure(secret: string, wanted: NewKey): Promise<Key> {
    const { tenancy, changed } = this.#parts;
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

  /** Newest first, management keys included; of every account when none is named. */
  async list(accountName?: string): Promise<Key[]> {
    const { tenancy, accounts } = this.#parts;
    if (accountName === undefined) return tenancy.listKeys();
    return tenancy.listKeys((await accounts.require(accountName)).id);
  }

  /** Keys with what they have spent. */
  statementsOf(keys: readonly Key[]): Promise<KeyStatement[]> {
    return keyStatements(this.#parts.ledger, keys, this.#parts.sources.clock.now());
  }

  /** Deletes the key with this hash, or the only one whose hash begins so. Gives it as it was. */
  async revoke(hashOrPrefix: string, accountName?: string): Promise<KeyStatement> {
    const { tenancy, accounts, ledger, sources, changed } = this.#parts;
    const account = accountName === undefined ? undefined : await accounts.require(accountName);
    const key = await this.#byHash(hashOrPrefix.toLowerCase(), account);
    const statement = await keyStatement(ledger, key, sources.clock.now());
    await tenancy.deleteKey(key.hash);
    changed(key.hash);
    await forgetSpending(ledger, 'key', [key.hash], sources.clock.now());
    return statement;
  }

  async #byHash(prefix: string, account: Account | undefined): Promise<Key> {
    if (!/^[0-9a-f]{1,64}$/.test(prefix) || prefix.length < SHORTEST_PREFIX) {
      throw new GatewayError(
        'invalid-request',
        `hash: must be a key's hash or its first ${SHORTEST_PREFIX} or more hex digits, as the list shows it`,
      );
    }
    const found = await this.#parts.tenancy.findKeysByHashPrefix(prefix, MOST_ALIKE);
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
    const { tenancy } = this.#parts;
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

  async #keyOf(secret: string, wanted: NewKey): Promise<Key> {
    const { accounts, sources } = this.#parts;
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

function limitOf({ limit, limitReset, includeByokInLimit, isManagement }: NewKey): Nanos | null {
  if (limit === undefined) {
    if (limitReset === undefined && includeByokInLimit !== true) return null;
    throw new GatewayError('invalid-request', 'limit: is missing, and the rest is about it');
  }
  if (isManagement === true) {
    throw new GatewayError('invalid-request', 'limit: a management key spends nothing; leave it out');
  }
  const nanos = parseUsd(limit);
  if (nanos !== undefined) return nanos;
  throw new GatewayError(
    'invalid-request',
    `limit: must be an amount in USD from 0 to ${MOST_USD}, such as 12.5`,
  );
}
