import type { ColumnDefinitionBuilder, SchemaModule } from 'kysely';

const notNullZero = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(0);

/** Accounts, their workspaces, keys, budgets and credentials, and sign-ins to the console. */
export async function createTenancy(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('accounts')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('workspaces')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('slug', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('is_default', 'integer', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('default_text_model', 'text')
    .addColumn('default_image_model', 'text')
    .addColumn('default_provider_sort', 'text')
    // A list as JSON.
    .addColumn('io_logging_api_key_ids', 'text')
    .addColumn('created_by', 'text')
    .addColumn('is_observability_io_logging_enabled', 'integer', notNullZero)
    .addColumn('is_observability_broadcast_enabled', 'integer', notNullZero)
    .addColumn('is_data_discount_logging_enabled', 'integer', notNullZero)
    .addColumn('include_byok_in_budgets', 'integer', notNullZero)
    .addColumn('io_logging_sampling_rate', 'double precision', (column) => column.notNull().defaultTo(1))
    .addColumn('updated_at_ms', 'bigint')
    // Where the configuration file declares it, and its budgets; null = it does not.
    .addColumn('file_member', 'text')
    .addColumn('budgets_file_member', 'text')
    .addUniqueConstraint('workspaces_slug', ['account_id', 'slug'])
    .execute();
  await schema
    .createIndex('workspaces_one_default')
    .unique()
    .on('workspaces')
    .column('account_id')
    .where('is_default' as never, '=', 1 as never)
    .execute();

  await schema
    .createTable('keys')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('workspace_id', 'text', (column) => column.notNull().references('workspaces.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('is_management', 'integer', (column) => column.notNull())
    .addColumn('disabled', 'integer', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('updated_at_ms', 'bigint')
    .addColumn('expires_at_ms', 'bigint')
    .addColumn('creator_user_id', 'text')
    .addColumn('limit_nanos', 'bigint')
    .addColumn('limit_reset', 'text')
    .addColumn('include_byok_in_limit', 'integer', notNullZero)
    .addColumn('external_user', 'text')
    .addColumn('file_member', 'text')
    .execute();
  await schema.createIndex('keys_by_account').on('keys').columns(['account_id', 'created_at_ms']).execute();
  await schema
    .createIndex('keys_by_workspace')
    .on('keys')
    .columns(['workspace_id', 'created_at_ms'])
    .execute();

  await schema
    .createTable('installation')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();

  await schema
    .createTable('budgets')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('workspace_id', 'text', (column) => column.notNull().references('workspaces.id'))
    // `window` is a word of SQL.
    .addColumn('limit_window', 'text', (column) => column.notNull())
    .addColumn('limit_nanos', 'bigint', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('budgets_one_a_window', ['workspace_id', 'limit_window'])
    .execute();

  await schema
    .createTable('byok_credentials')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('workspace_id', 'text', (column) => column.references('workspaces.id'))
    .addColumn('provider', 'text', (column) => column.notNull())
    .addColumn('name', 'text')
    .addColumn('label', 'text', (column) => column.notNull())
    // Null once deleted.
    .addColumn('encrypted_secret', 'text')
    .addColumn('encryption_key_id', 'text')
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('sort_order', 'integer', (column) => column.notNull())
    .addColumn('disabled', 'integer', (column) => column.notNull())
    .addColumn('is_fallback', 'integer', (column) => column.notNull())
    .addColumn('is_required', 'integer', (column) => column.notNull())
    .addColumn('is_byok_only', 'integer', (column) => column.notNull())
    .addColumn('declared_zdr', 'integer')
    // Lists as JSON.
    .addColumn('allowed_models', 'text')
    .addColumn('allowed_user_ids', 'text')
    .addColumn('allowed_api_key_hashes', 'text')
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('updated_at_ms', 'bigint')
    .addColumn('deleted_at_ms', 'bigint')
    .addColumn('file_member', 'text')
    .execute();
  await schema
    .createIndex('byok_credentials_places')
    .unique()
    .on('byok_credentials')
    .columns(['account_id', 'provider', 'sort_order'])
    .where('deleted_at_ms' as never, 'is', null)
    .execute();
  await schema
    .createIndex('byok_credentials_by_encryption_key')
    .on('byok_credentials')
    .column('encryption_key_id')
    .execute();

  await schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('token_hash', 'text', (column) => column.notNull().unique())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('key_hash', 'text', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('last_seen_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('user_agent', 'text')
    .addColumn('address', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('sessions_by_account').on('sessions').column('account_id').execute();
}
