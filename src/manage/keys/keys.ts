import type { CreateKey, KeysQuery, UpdateKey } from '../../contract/keys/key.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import { nanosOf } from '../../kit/money.ts';
import { momentMs } from '../../kit/time/moment.ts';
import type { EventStore } from '../../ports/events/events.ts';
import type { Ledger } from '../../ports/money/ledger.ts';
import type { AppliedGuardrail, GuardrailStore } from '../../ports/tenancy/guardrails.ts';
import type { MemberStore } from '../../ports/tenancy/members.ts';
import type { Key, KeySettings, Tenancy } from '../../ports/tenancy/tenancy.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { appliedGuardrails } from '../guardrails/applied-guardrails.ts';
import { type KnownNames, unknownModels } from '../guardrails/guardrail-issues.ts';
import { checkName, refuseDeclared, requireFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { forgetSpending } from '../workspaces/forget-spending.ts';
import { listedWorkspaceId, requireWorkspaceId } from '../workspaces/require-workspace-id.ts';
import { type KeyStatement, keyStatement, keyStatements } from './key-statement.ts';
import { lastUsesOf } from './last-uses.ts';
import { keyByHash, type NewKeyOptions, namedWorkspace, refuseLimits, requireLimit } from './named-key.ts';
import { type IssuedKey, newKey } from './new-key.ts';

export interface KeysDependencies {
  readonly tenancy: Tenancy;
  readonly accounts: Accounts;
  readonly ledger: Pick<Ledger, 'spendingOf' | 'forget'>;
  readonly events: Pick<EventStore, 'query'>;
  readonly guardrails: Pick<GuardrailStore, 'listAll' | 'assignmentsOf'>;
  readonly members: Pick<MemberStore, 'stateOf'>;
  readonly sources: Sources;
  /** Whether a name is that of a model, by the current configuration. */
  readonly models: () => KnownNames;
  /** Prefix of every secret. */
  readonly prefix: string;
  /** Called with the hash of every key that was created, changed or deleted. */
  readonly changed: (hash: string) => void;
}

const KEYS_PER_PAGE = 100;

export interface ListedKey extends KeyStatement {
  /** Epoch milliseconds; null = no kept generation has it; absent = not asked for, or the events do not answer. */
  readonly lastUsedAtMs?: number | null;
}

/** A key with its spending and the guardrails that apply to it. */
export interface WholeKey extends KeyStatement {
  /** The widest scope first. */
  readonly guardrails: readonly AppliedGuardrail[];
}

/**
 * Keys. What takes the id of an account sees its API keys alone: a key of another account, or a management key, is a
 * 404. The other operations are for the operator: they see all keys, by names of accounts and beginnings of hashes.
 */
export class Keys {
  readonly #dependencies: KeysDependencies;

  constructor(dependencies: KeysDependencies) {
    this.#dependencies = dependencies;
  }

  async create(
    accountId: string,
    wanted: CreateKey,
  ): Promise<{ readonly statement: WholeKey; readonly secret: string }> {
    const { tenancy, sources, prefix } = this.#dependencies;
    const createdAtMs = sources.clock.now();
    const settings = this.#changeOf(wanted);
    const workspaceId = await requireWorkspaceId(tenancy, accountId, wanted.workspace_id);
    const owner = await this.#ownerOf(accountId, wanted.creator_user_id ?? null);
    const secret = prefix + sources.secret();
    const key = newKey(secret, {
      ...settings,
      name: wanted.name,
      accountId,
      workspaceId,
      createdAtMs,
      ...owner,
      externalUser: wanted.external?.user ?? null,
    });
    await this.#insert(key);
    return { statement: await this.#whole(key), secret };
  }

  /** A page of keys, newest first. */
  async list(accountId: string, query: KeysQuery): Promise<ListedKey[]> {
    const { tenancy, ledger, events, sources } = this.#dependencies;
    const workspaceId = await listedWorkspaceId(tenancy, accountId, query);
    const keys = await tenancy.listPlainKeys(
      {
        accountId,
        workspaceId,
        includeDisabled: query.include_disabled ?? false,
        search: query.search ?? null,
      },
      { offset: query.offset ?? 0, limit: KEYS_PER_PAGE },
    );
    const asked = query.include_last_used === true ? keys.map(({ hash }) => hash) : [];
    const [statements, lastUses] = await Promise.all([
      keyStatements(ledger, keys, sources.clock.now()),
      lastUsesOf(events, accountId, asked),
    ]);
    if (asked.length === 0 || lastUses === undefined) return statements;
    return statements.map((statement) => ({
      ...statement,
      lastUsedAtMs: lastUses.get(statement.key.hash) ?? null,
    }));
  }

  async get(accountId: string, hash: string): Promise<WholeKey> {
    return this.#whole(await this.#require(accountId, hash));
  }

  async update(accountId: string, hash: string, wanted: UpdateKey): Promise<WholeKey> {
    return this.#update(await this.#require(accountId, hash), wanted);
  }

  async delete(accountId: string, hash: string): Promise<void> {
    await this.#delete(await this.#require(accountId, hash));
  }

  /** Makes a key of either kind. */
  async issue(wanted: NewKeyOptions): Promise<IssuedKey> {
    checkName('name', wanted.name);
    const { sources, prefix } = this.#dependencies;
    const secret = prefix + sources.secret();
    const key = await this.#keyOf(secret, wanted);
    await this.#insert(key);
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
  async listAll(accountName?: string): Promise<Key[]> {
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
    const key = await this.#named(hashOrPrefix, accountName);
    const statement = await this.statementOf(key);
    await this.#delete(key);
    return statement;
  }

  /** The key with this hash or unambiguous prefix. */
  async getNamed(hashOrPrefix: string, accountName?: string): Promise<WholeKey> {
    return this.#whole(await this.#named(hashOrPrefix, accountName));
  }

  /** Changes the key with this hash or unambiguous prefix. */
  async updateNamed(hashOrPrefix: string, wanted: UpdateKey, accountName?: string): Promise<WholeKey> {
    if (wanted.name !== undefined) checkName('name', wanted.name);
    const key = await this.#named(hashOrPrefix, accountName);
    if (key.isManagement && key.fileMember === null) refuseLimits(wanted);
    return this.#update(key, wanted);
  }

  /** Any key, with what it has spent. */
  statementOf(key: Key): Promise<KeyStatement> {
    return keyStatement(this.#dependencies.ledger, key, this.#dependencies.sources.clock.now());
  }

  /** The creator of a new key; 400 for a member who could not use it. */
  async #ownerOf(accountId: string, creatorUserId: string | null) {
    const ownerState =
      creatorUserId === null ? undefined : await this.#dependencies.members.stateOf(accountId, creatorUserId);
    if (ownerState === undefined) return { creatorUserId };
    if (ownerState === 'active') return { creatorUserId, ownerState };
    throw invalidRequest([
      {
        path: 'creator_user_id',
        message: `is a member who is ${ownerState}, so that the key would open nothing`,
      },
    ]);
  }

  async #require(accountId: string, hash: string): Promise<Key> {
    const key = await this.#dependencies.tenancy.findKey(hash);
    return requireFound(key?.accountId === accountId && !key.isManagement ? key : undefined);
  }

  async #insert(key: Key): Promise<void> {
    const { tenancy, changed } = this.#dependencies;
    if (!(await tenancy.insertKey(key))) throw new Error('a new key has the hash of an old one');
    changed(key.hash);
  }

  async #update({ hash, fileMember }: Key, wanted: UpdateKey): Promise<WholeKey> {
    const { tenancy, sources, changed } = this.#dependencies;
    refuseDeclared('key', fileMember);
    const change = this.#changeOf(wanted);
    const key = requireFound(await tenancy.updateKey(hash, change, sources.clock.now()));
    changed(hash);
    return this.#whole(key);
  }

  /** The stored form of the settings that are given. Throws 400 for those that cannot hold. */
  #changeOf(wanted: UpdateKey): Partial<KeySettings> {
    const { models, sources } = this.#dependencies;
    const issues = unknownModels(wanted, 'allowed_models', models());
    if (issues.length > 0) throw invalidRequest(issues);
    return keyChangeOf(wanted, sources.clock.now());
  }

  async #whole(key: Key): Promise<WholeKey> {
    return { ...(await this.statementOf(key)), guardrails: await this.#guardrailsOf(key) };
  }

  /** Without guardrails in the account, assignments are not read. */
  async #guardrailsOf(key: Key): Promise<readonly AppliedGuardrail[]> {
    const { guardrails: store } = this.#dependencies;
    const guardrails = key.isManagement ? [] : await store.listAll(key.accountId);
    if (guardrails.length === 0) return [];
    const subjects = { key: key.hash, member: key.creatorUserId };
    return appliedGuardrails(key, guardrails, await store.assignmentsOf(key.accountId, subjects));
  }

  async #delete({ hash, fileMember }: Key): Promise<void> {
    const { tenancy, ledger, sources, changed } = this.#dependencies;
    refuseDeclared('key', fileMember);
    await tenancy.deleteKey(hash);
    changed(hash);
    await forgetSpending(ledger, 'key', [hash], sources.clock.now());
  }

  async #named(hashOrPrefix: string, accountName: string | undefined): Promise<Key> {
    const account =
      accountName === undefined ? undefined : await this.#dependencies.accounts.require(accountName);
    return keyByHash(this.#dependencies.tenancy, hashOrPrefix.toLowerCase(), account?.id);
  }

  async #keyOf(secret: string, wanted: NewKeyOptions): Promise<Key> {
    const { accounts, sources } = this.#dependencies;
    const {
      account: _account,
      workspace: _workspace,
      isManagement = false,
      creatorUserId = null,
      ...settings
    } = wanted;
    if (isManagement) refuseLimits(settings);
    else requireLimit(settings);
    const account = await accounts.require(wanted.account);
    const workspace = await namedWorkspace(this.#dependencies.tenancy, account, wanted.workspace);
    return newKey(secret, {
      ...this.#changeOf(settings),
      accountId: account.id,
      workspaceId: workspace.id,
      name: wanted.name,
      isManagement,
      ...(await this.#ownerOf(account.id, creatorUserId)),
      createdAtMs: sources.clock.now(),
    });
  }
}

function keyChangeOf(wanted: UpdateKey, nowMs: number): Partial<KeySettings> {
  const { name, disabled, limit, limit_reset: limitReset, include_byok_in_limit: includeByok } = wanted;
  const { allowed_models: models, requests_per_minute: requests, tokens_per_minute: tokens } = wanted;
  const { expires_at: expiresAt } = wanted;
  return {
    ...(name !== undefined && { name }),
    ...(disabled !== undefined && { disabled }),
    ...(limit !== undefined && { limitNanos: limit === null ? null : nanosOf(limit) }),
    ...(limitReset !== undefined && { limitReset }),
    ...(includeByok !== undefined && { includeByokInLimit: includeByok }),
    ...(models !== undefined && { allowedModels: models && [...new Set(models)] }),
    // 0 stands for no limit of its own.
    ...(requests !== undefined && { requestsPerMinute: requests || null }),
    ...(tokens !== undefined && { tokensPerMinute: tokens || null }),
    ...(expiresAt !== undefined && { expiresAtMs: expiryOf(expiresAt, nowMs) }),
  };
}

function expiryOf(text: string | null, nowMs: number): number | null {
  if (text === null) return null;
  const expiresAtMs = momentMs(text);
  if (expiresAtMs === undefined) {
    throw invalidRequest([{ path: 'expires_at', message: 'is no moment of the calendar' }]);
  }
  if (expiresAtMs <= nowMs) throw invalidRequest([{ path: 'expires_at', message: 'must be in the future' }]);
  return expiresAtMs;
}
