import type { CreateKey, KeysQuery, UpdateKey } from '../../contract/keys/key.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { nanosOf } from '../../kit/money.ts';
import { momentMs } from '../../kit/time/moment.ts';
import type { EventStore } from '../../ports/events.ts';
import type { Ledger } from '../../ports/ledger.ts';
import type { Key, KeySettings, Tenancy } from '../../ports/tenancy.ts';
import { refuseDeclared, requireFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { forgetSpending } from '../workspaces/forget-spending.ts';
import { listedWorkspaceId, requireWorkspaceId } from '../workspaces/require-workspace-id.ts';
import { type KeyStatement, keyStatement, keyStatements } from './key-statement.ts';
import { lastUsesOf } from './last-uses.ts';
import { newKey } from './new-key.ts';

export interface AccountKeysDependencies {
  readonly tenancy: Tenancy;
  readonly ledger: Pick<Ledger, 'spendingOf' | 'forget'>;
  readonly events: Pick<EventStore, 'query'>;
  readonly sources: Sources;
  /** Prefix of every secret. */
  readonly prefix: string;
  /** Called with the hash of every key that was created, changed or deleted. */
  readonly changed: (hash: string) => void;
}

const KEYS_PER_PAGE = 100;

/** A key of a list. */
export interface ListedKey extends KeyStatement {
  /** Epoch milliseconds; null = no kept generation has it; absent = not asked for, or the events do not answer. */
  readonly lastUsedAtMs?: number | null;
}

/**
 * The API keys of accounts, for the management API; `OperatorKeys` is for the command line. Each operation sees one
 * account; a key of another account, or a management key, is a 404.
 */
export class AccountKeys {
  readonly #dependencies: AccountKeysDependencies;

  constructor(dependencies: AccountKeysDependencies) {
    this.#dependencies = dependencies;
  }

  async create(
    accountId: string,
    wanted: CreateKey,
  ): Promise<{ readonly statement: KeyStatement; readonly secret: string }> {
    const { tenancy, sources, prefix, changed } = this.#dependencies;
    const createdAtMs = sources.clock.now();
    const expiresAtMs = expiryOf(wanted.expires_at, createdAtMs);
    const workspaceId = await requireWorkspaceId(tenancy, accountId, wanted.workspace_id);
    const secret = prefix + sources.secret();
    const key = newKey(secret, {
      ...keyChangeOf(wanted),
      name: wanted.name,
      accountId,
      workspaceId,
      createdAtMs,
      expiresAtMs,
      creatorUserId: wanted.creator_user_id ?? null,
      externalUser: wanted.external?.user ?? null,
    });
    if (!(await tenancy.insertKey(key))) throw new Error('a new key has the hash of an old one');
    changed(key.hash);
    return { statement: await this.statementOf(key), secret };
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

  async get(accountId: string, hash: string): Promise<KeyStatement> {
    return this.statementOf(await this.#require(accountId, hash));
  }

  async update(accountId: string, hash: string, wanted: UpdateKey): Promise<KeyStatement> {
    const { tenancy, sources, changed } = this.#dependencies;
    refuseDeclared('key', (await this.#require(accountId, hash)).fileMember);
    const key = requireFound(await tenancy.updateKey(hash, keyChangeOf(wanted), sources.clock.now()));
    changed(hash);
    return this.statementOf(key);
  }

  async delete(accountId: string, hash: string): Promise<void> {
    const { tenancy, ledger, sources, changed } = this.#dependencies;
    refuseDeclared('key', (await this.#require(accountId, hash)).fileMember);
    await tenancy.deleteKey(hash);
    changed(hash);
    await forgetSpending(ledger, 'key', [hash], sources.clock.now());
  }

  /** Any key, with what it has spent. */
  statementOf(key: Key): Promise<KeyStatement> {
    return keyStatement(this.#dependencies.ledger, key, this.#dependencies.sources.clock.now());
  }

  async #require(accountId: string, hash: string): Promise<Key> {
    const key = await this.#dependencies.tenancy.findKey(hash);
    return requireFound(key?.accountId === accountId && !key.isManagement ? key : undefined);
  }
}

/** The stored form of the settings that are given. */
export function keyChangeOf(wanted: UpdateKey): Partial<KeySettings> {
  const { name, disabled, limit, limit_reset: limitReset, include_byok_in_limit: includeByok } = wanted;
  return {
    ...(name !== undefined && { name }),
    ...(disabled !== undefined && { disabled }),
    ...(limit !== undefined && { limitNanos: limit === null ? null : nanosOf(limit) }),
    ...(limitReset !== undefined && { limitReset }),
    ...(includeByok !== undefined && { includeByokInLimit: includeByok }),
  };
}

function expiryOf(text: string | null | undefined, nowMs: number): number | null {
  if (text === null || text === undefined) return null;
  const expiresAtMs = momentMs(text);
  if (expiresAtMs === undefined) {
    throw invalidRequest([{ path: 'expires_at', message: 'is no moment of the calendar' }]);
  }
  if (expiresAtMs <= nowMs) throw invalidRequest([{ path: 'expires_at', message: 'must be in the future' }]);
  return expiresAtMs;
}
