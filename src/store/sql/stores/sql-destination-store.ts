import type { Kysely, Transaction } from 'kysely';
import { keyIdOf } from '../../../kit/crypto/encrypt.ts';
import {
  type Destination,
  type DestinationEdit,
  type DestinationStore,
  destinationProvider,
  readsContent,
} from '../../../ports/following/destinations.ts';
import type { EncryptedSecret, SecretReplacement } from '../../../ports/tenancy/byok.ts';
import type { Page } from '../../../ports/tenancy/tenancy.ts';
import { type DestinationRow, numberOrNull, type Tables } from '../tables.ts';
import { transact } from '../transact.ts';
import { encryptionKeyIdsIn, reencryptIn } from './encrypted-secrets.ts';

export class SqlDestinationStore implements DestinationStore {
  readonly #database: Kysely<Tables>;
  readonly #purgeWipedSecrets: (database: Kysely<Tables>) => Promise<void>;

  /** `purgeWipedSecrets` removes overwritten content from the engine's files, if the engine allows that. */
  constructor(database: Kysely<Tables>, purgeWipedSecrets: (database: Kysely<Tables>) => Promise<void>) {
    this.#database = database;
    this.#purgeWipedSecrets = purgeWipedSecrets;
  }

  insert(destination: Destination, mostOfType: number): Promise<Destination | 'full'> {
    const { id, accountId, workspaceId, type } = destination;
    return transact(this.#database, async (transaction) => {
      // Writes the workspace, without a change: of two insertions at a time, the second sees what the first has stored.
      await transaction
        .updateTable('workspaces')
        .set(({ ref }) => ({ name: ref('name') }))
        .where('id', '=', workspaceId)
        .execute();
      const known = await one(transaction, accountId, id).executeTakeFirst();
      if (known !== undefined) return destinationOf(known);
      const { count } = await transaction
        .selectFrom('destinations')
        .select((select) => select.fn.countAll().as('count'))
        .where('workspace_id', '=', workspaceId)
        .where('type', '=', type)
        .executeTakeFirstOrThrow();
      if (Number(count) >= mostOfType) return 'full';
      await transaction.insertInto('destinations').values(rowOf(destination)).execute();
      return destination;
    });
  }

  async find(accountId: string, id: string): Promise<Destination | undefined> {
    const row = await one(this.#database, accountId, id).executeTakeFirst();
    return row && destinationOf(row);
  }

  async list(accountId: string, workspaceId: string | null, { offset, limit }: Page) {
    const listed = this.#database
      .selectFrom('destinations')
      .where('account_id', '=', accountId)
      .$if(workspaceId !== null, (query) => query.where('workspace_id', '=', workspaceId as string));
    const { total } = await listed
      .select((select) => select.fn.countAll().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await listed
      .selectAll()
      .orderBy('created_at_ms')
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute();
    return { destinations: rows.map(destinationOf), total: Number(total) };
  }

  async listAll(): Promise<Destination[]> {
    const rows = await this.#database
      .selectFrom('destinations')
      .selectAll()
      .orderBy('created_at_ms')
      .orderBy('id')
      .execute();
    return rows.map(destinationOf);
  }

  update(
    accountId: string,
    id: string,
    decide: (current: Destination) => DestinationEdit,
    atMs: number,
  ): Promise<Destination | undefined> {
    return transact(this.#database, async (transaction) => {
      const row = await one(transaction, accountId, id).executeTakeFirst();
      if (row === undefined) return undefined;
      const current = destinationOf(row);
      const changed: Destination = { ...current, ...decide(current), updatedAtMs: atMs };
      await transaction.updateTable('destinations').set(rowOf(changed)).where('id', '=', id).execute();
      return changed;
    });
  }

  async delete(accountId: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom('destinations')
      .where('account_id', '=', accountId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    if (numDeletedRows !== 1n) return false;
    await this.purgeWipedSecrets();
    return true;
  }

  encryptionKeyIds(): Promise<string[]> {
    return encryptionKeyIdsIn(this.#database, 'destinations');
  }

  async listEncryptedOtherwise(encryptionKeyId: string, limit: number): Promise<EncryptedSecret[]> {
    const rows = await this.#database
      .selectFrom('destinations')
      .select(['id', 'account_id', 'type', 'encrypted_secret'])
      .where('encryption_key_id', '!=', encryptionKeyId)
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map((row) => ({
      id: row.id,
      accountId: row.account_id,
      provider: destinationProvider(row.type),
      encryptedSecret: row.encrypted_secret ?? '',
    }));
  }

  reencrypt(replacements: readonly SecretReplacement[]): Promise<void> {
    return reencryptIn(this.#database, 'destinations', replacements);
  }

  async purgeWipedSecrets(): Promise<void> {
    await this.#purgeWipedSecrets(this.#database);
  }
}

function one(runner: Kysely<Tables> | Transaction<Tables>, accountId: string, id: string) {
  return runner
    .selectFrom('destinations')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', id);
}

/** The part of a destination that is stored as JSON. */
type StoredSettings = Pick<
  Destination,
  | 'config'
  | 'secretLabels'
  | 'privacyMode'
  | 'samplingRate'
  | 'apiKeyHashes'
  | 'filterRules'
  | 'sendsCost'
  | 'sendsIdentity'
  | 'sendsRequestContext'
>;

function rowOf(destination: Destination): DestinationRow {
  const {
    id,
    accountId,
    workspaceId,
    type,
    name,
    encryptedSecrets,
    version,
    isEnabled,
    createdAtMs,
    updatedAtMs,
    fileMember,
    ...settings
  } = destination;
  return {
    id,
    account_id: accountId,
    workspace_id: workspaceId,
    type,
    name,
    settings: JSON.stringify(settings satisfies StoredSettings),
    encrypted_secret: encryptedSecrets,
    encryption_key_id: encryptedSecrets === null ? null : keyIdOf(encryptedSecrets),
    version,
    is_enabled: isEnabled ? 1 : 0,
    reads_content: readsContent(destination) ? 1 : 0,
    created_at_ms: createdAtMs,
    updated_at_ms: updatedAtMs,
    file_member: fileMember,
  };
}

function destinationOf(row: DestinationRow): Destination {
  return {
    ...(JSON.parse(row.settings) as StoredSettings),
    id: row.id,
    accountId: row.account_id,
    workspaceId: row.workspace_id,
    type: row.type,
    name: row.name,
    encryptedSecrets: row.encrypted_secret,
    version: Number(row.version),
    isEnabled: Number(row.is_enabled) === 1,
    createdAtMs: Number(row.created_at_ms),
    updatedAtMs: numberOrNull(row.updated_at_ms),
    fileMember: row.file_member,
  };
}
