import type { Kysely, SelectQueryBuilder, Transaction } from 'kysely';
import { keyIdOf } from '../../../kit/crypto/encrypt.ts';
import type {
  ByokChange,
  ByokFilter,
  ByokStore,
  EncryptedSecret,
  SecretReplacement,
  StoredByokCredential,
} from '../../../ports/tenancy/byok.ts';
import { type ByokRow, numberOrNull, type Tables } from '../tables.ts';
import { transact } from '../transact.ts';
import { encryptionKeyIdsIn, reencryptIn } from './encrypted-secrets.ts';

export class SqlByokStore implements ByokStore {
  readonly #database: Kysely<Tables>;
  readonly #purgeWipedSecrets: (database: Kysely<Tables>) => Promise<void>;

  /** `purgeWipedSecrets` removes overwritten content from the engine's files, if the engine allows that. */
  constructor(database: Kysely<Tables>, purgeWipedSecrets: (database: Kysely<Tables>) => Promise<void>) {
    this.#database = database;
    this.#purgeWipedSecrets = purgeWipedSecrets;
  }

  insert(credential: Omit<StoredByokCredential, 'sortOrder'>): Promise<StoredByokCredential> {
    return transact(this.#database, async (transaction) => {
      const known = await one(transaction, credential.accountId, credential.id).executeTakeFirst();
      if (known !== undefined) return credentialOf(known);
      const last = await transaction
        .selectFrom('byok_credentials')
        .select((select) => select.fn.max('sort_order').as('place'))
        .where('account_id', '=', credential.accountId)
        .where('provider', '=', credential.provider)
        .where('deleted_at_ms', 'is', null)
        .executeTakeFirst();
      const place = last?.place ?? null;
      const placed = { ...credential, sortOrder: place === null ? 0 : Number(place) + 1 };
      const row = rowOf(placed);
      await transaction
        .insertInto('byok_credentials')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
        .execute();
      return placed;
    });
  }

  async list(filter: ByokFilter, { offset, limit }: { offset: number; limit: number }) {
    const matching = this.#matching(filter);
    const counted = await matching
      .select((select) => select.fn.countAll().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await inOrder(matching.selectAll()).limit(limit).offset(offset).execute();
    return { credentials: rows.map(credentialOf), total: Number(counted.total) };
  }

  async listAll(accountId: string): Promise<StoredByokCredential[]> {
    const rows = await inOrder(
      living(this.#database).selectAll().where('account_id', '=', accountId),
    ).execute();
    return rows.map(credentialOf);
  }

  async find(accountId: string, id: string): Promise<StoredByokCredential | undefined> {
    const row = await one(this.#database, accountId, id).executeTakeFirst();
    return row && credentialOf(row);
  }

  update(
    accountId: string,
    id: string,
    decide: (current: StoredByokCredential) => ByokChange,
    atMs: number,
  ): Promise<StoredByokCredential | undefined> {
    return transact(this.#database, async (transaction) => {
      const row = await one(transaction, accountId, id).executeTakeFirst();
      if (row === undefined) return undefined;
      const current = credentialOf(row);
      const changed: StoredByokCredential = { ...current, ...decide(current), updatedAtMs: atMs };
      await transaction.updateTable('byok_credentials').set(rowOf(changed)).where('id', '=', id).execute();
      return changed;
    });
  }

  async delete(accountId: string, id: string, atMs: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable('byok_credentials')
      .set({ encrypted_secret: null, encryption_key_id: null, label: '', deleted_at_ms: atMs })
      .where('id', '=', id)
      .where('account_id', '=', accountId)
      .where('deleted_at_ms', 'is', null)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows !== 1n) return false;
    await this.purgeWipedSecrets();
    return true;
  }

  encryptionKeyIds(): Promise<string[]> {
    return encryptionKeyIdsIn(this.#database, 'byok_credentials');
  }

  async listEncryptedOtherwise(encryptionKeyId: string, limit: number): Promise<EncryptedSecret[]> {
    const rows = await this.#database
      .selectFrom('byok_credentials')
      .selectAll()
      .where('encryption_key_id', '!=', encryptionKeyId)
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(credentialOf);
  }

  reencrypt(replacements: readonly SecretReplacement[]): Promise<void> {
    return reencryptIn(this.#database, 'byok_credentials', replacements);
  }

  async purgeWipedSecrets(): Promise<void> {
    await this.#purgeWipedSecrets(this.#database);
  }

  #matching({ accountId, workspaceId, provider }: ByokFilter) {
    return living(this.#database)
      .where('account_id', '=', accountId)
      .$if(workspaceId !== null, (query) =>
        query.where((where) =>
          where.or([where('workspace_id', '=', workspaceId), where('workspace_id', 'is', null)]),
        ),
      )
      .$if(provider !== undefined, (query) => query.where('provider', '=', provider as string));
  }
}

function living(database: Kysely<Tables> | Transaction<Tables>) {
  return database.selectFrom('byok_credentials').where('deleted_at_ms', 'is', null);
}

function one(database: Kysely<Tables> | Transaction<Tables>, accountId: string, id: string) {
  return living(database).selectAll().where('account_id', '=', accountId).where('id', '=', id);
}

function inOrder<Output>(query: SelectQueryBuilder<Tables, 'byok_credentials', Output>) {
  return query.orderBy('provider').orderBy('sort_order');
}

function rowOf(credential: StoredByokCredential): ByokRow {
  return {
    id: credential.id,
    account_id: credential.accountId,
    workspace_id: credential.workspaceId,
    provider: credential.provider,
    name: credential.name,
    label: credential.label,
    encrypted_secret: credential.encryptedSecret,
    encryption_key_id: keyIdOf(credential.encryptedSecret),
    version: credential.version,
    sort_order: credential.sortOrder,
    disabled: credential.disabled ? 1 : 0,
    is_fallback: credential.isFallback ? 1 : 0,
    is_required: credential.isRequired ? 1 : 0,
    is_byok_only: credential.isByokOnly ? 1 : 0,
    declared_zdr: credential.declaredZdr === null ? null : credential.declaredZdr ? 1 : 0,
    allowed_models: listText(credential.allowedModels),
    allowed_user_ids: listText(credential.allowedUserIds),
    allowed_api_key_hashes: listText(credential.allowedApiKeyHashes),
    created_at_ms: credential.createdAtMs,
    updated_at_ms: credential.updatedAtMs,
    deleted_at_ms: null,
    file_member: credential.fileMember,
  };
}

function credentialOf(row: ByokRow): StoredByokCredential {
  return {
    id: row.id,
    accountId: row.account_id,
    workspaceId: row.workspace_id,
    provider: row.provider,
    name: row.name,
    label: row.label,
    encryptedSecret: row.encrypted_secret ?? '',
    version: Number(row.version),
    sortOrder: Number(row.sort_order),
    disabled: Number(row.disabled) === 1,
    isFallback: Number(row.is_fallback) === 1,
    isRequired: Number(row.is_required) === 1,
    isByokOnly: Number(row.is_byok_only) === 1,
    declaredZdr: row.declared_zdr === null ? null : Number(row.declared_zdr) === 1,
    allowedModels: listOf(row.allowed_models),
    allowedUserIds: listOf(row.allowed_user_ids),
    allowedApiKeyHashes: listOf(row.allowed_api_key_hashes),
    createdAtMs: Number(row.created_at_ms),
    updatedAtMs: numberOrNull(row.updated_at_ms),
    fileMember: row.file_member,
  };
}

function listText(list: readonly string[] | null): string | null {
  return list === null ? null : JSON.stringify(list);
}

function listOf(text: string | null): string[] | null {
  return text === null ? null : (JSON.parse(text) as string[]);
}
