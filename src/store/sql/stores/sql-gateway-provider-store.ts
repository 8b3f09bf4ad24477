import type { Kysely, Transaction } from 'kysely';
import { keyIdOf } from '../../../kit/crypto/encrypt.ts';
import type { EncryptedSecret, SecretReplacement } from '../../../ports/tenancy/byok.ts';
import {
  type GatewayProviderStore,
  keyOwnerOf,
  type StoredProvider,
  type StoredProviderChange,
} from '../../../ports/tenancy/gateway-providers.ts';
import { type GatewayProviderRow, numberOrNull, type Tables } from '../tables.ts';
import { transact } from '../transact.ts';
import { encryptionKeyIdsIn, reencryptIn } from './encrypted-secrets.ts';

/** The gateway's own providers in a database of either engine. */
export class SqlGatewayProviderStore implements GatewayProviderStore {
  readonly #database: Kysely<Tables>;
  readonly #purgeWipedSecrets: (database: Kysely<Tables>) => Promise<void>;
  /** As last listed, by slug: hundreds of models are not parsed again for a change of another provider. */
  #listed: ReadonlyMap<string, ListedProvider> = new Map();

  /** `purgeWipedSecrets` removes overwritten content from the engine's files, if the engine allows that. */
  constructor(database: Kysely<Tables>, purgeWipedSecrets: (database: Kysely<Tables>) => Promise<void>) {
    this.#database = database;
    this.#purgeWipedSecrets = purgeWipedSecrets;
  }

  async insert(provider: StoredProvider): Promise<boolean> {
    const { numInsertedOrUpdatedRows: inserted } = await this.#database
      .insertInto('gateway_providers')
      .values(rowOf(provider))
      .onConflict((conflict) => conflict.column('slug').doNothing())
      .executeTakeFirstOrThrow();
    return inserted === 1n;
  }

  async listAll(): Promise<StoredProvider[]> {
    const rows = await this.#database.selectFrom('gateway_providers').selectAll().orderBy('slug').execute();
    const before = this.#listed;
    const listed = rows.map((row): ListedProvider => {
      const known = before.get(row.slug);
      return known !== undefined && isSameRow(known.row, row) ? known : { row, provider: providerOf(row) };
    });
    this.#listed = new Map(listed.map((each) => [each.row.slug, each]));
    return listed.map(({ provider }) => provider);
  }

  async find(slug: string): Promise<StoredProvider | undefined> {
    const row = await one(this.#database, slug).executeTakeFirst();
    return row && providerOf(row);
  }

  update(
    slug: string,
    decide: (current: StoredProvider) => StoredProviderChange,
    atMs: number,
  ): Promise<StoredProvider | undefined> {
    return transact(this.#database, async (transaction) => {
      const row = await one(transaction, slug).executeTakeFirst();
      if (row === undefined) return undefined;
      const current = providerOf(row);
      const changed: StoredProvider = { ...current, ...decide(current), updatedAtMs: atMs };
      await transaction
        .updateTable('gateway_providers')
        .set(rowOf(changed))
        .where('slug', '=', slug)
        .execute();
      return changed;
    });
  }

  async delete(slug: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom('gateway_providers')
      .where('slug', '=', slug)
      .executeTakeFirstOrThrow();
    if (numDeletedRows !== 1n) return false;
    await this.purgeWipedSecrets();
    return true;
  }

  encryptionKeyIds(): Promise<string[]> {
    return encryptionKeyIdsIn(this.#database, 'gateway_providers');
  }

  async listEncryptedOtherwise(encryptionKeyId: string, limit: number): Promise<EncryptedSecret[]> {
    const rows = await this.#database
      .selectFrom('gateway_providers')
      .select(['id', 'slug', 'encrypted_secret'])
      .where('encryption_key_id', '!=', encryptionKeyId)
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ ...keyOwnerOf(row), encryptedSecret: row.encrypted_secret ?? '' }));
  }

  reencrypt(replacements: readonly SecretReplacement[]): Promise<void> {
    return reencryptIn(this.#database, 'gateway_providers', replacements);
  }

  async purgeWipedSecrets(): Promise<void> {
    await this.#purgeWipedSecrets(this.#database);
  }
}

interface ListedProvider {
  readonly row: GatewayProviderRow;
  readonly provider: StoredProvider;
}

function isSameRow(one: GatewayProviderRow, other: GatewayProviderRow): boolean {
  return (Object.keys(one) as (keyof GatewayProviderRow)[]).every((name) => one[name] === other[name]);
}

function one(runner: Kysely<Tables> | Transaction<Tables>, slug: string) {
  return runner.selectFrom('gateway_providers').selectAll().where('slug', '=', slug);
}

/** The part of a provider that is stored as JSON. */
type StoredSettings = Pick<
  StoredProvider,
  'name' | 'dialect' | 'baseUrl' | 'models' | 'workspaceIds' | 'label'
>;

function rowOf(provider: StoredProvider): GatewayProviderRow {
  const { id, slug, encryptedKey, version, disabled, createdAtMs, updatedAtMs, ...settings } = provider;
  return {
    id,
    slug,
    settings: JSON.stringify(settings satisfies StoredSettings),
    encrypted_secret: encryptedKey,
    encryption_key_id: encryptedKey === null ? null : keyIdOf(encryptedKey),
    version,
    disabled: disabled ? 1 : 0,
    created_at_ms: createdAtMs,
    updated_at_ms: updatedAtMs,
  };
}

function providerOf(row: GatewayProviderRow): StoredProvider {
  return {
    ...(JSON.parse(row.settings) as StoredSettings),
    id: row.id,
    slug: row.slug,
    encryptedKey: row.encrypted_secret,
    version: Number(row.version),
    disabled: Number(row.disabled) === 1,
    createdAtMs: Number(row.created_at_ms),
    updatedAtMs: numberOrNull(row.updated_at_ms),
  };
}
