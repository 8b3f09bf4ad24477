/**
 * The tables as queries see them. Whole numbers come back as bigint from SQLite and as text from PostgreSQL, so every
 * one is read through Number() or BigInt(); truth values are 0 and 1 because both engines have those.
 */
export interface Tables {
  accounts: AccountRow;
  workspaces: WorkspaceRow;
  keys: KeyRow;
  byok_credentials: ByokRow;
  /** Facts about the whole installation, one a row. */
  installation: { name: string; value: string };
  /** Migrations that have run. */
  schema_migrations: { name: string; applied_at_ms: WholeNumber };
}

/** A whole number as it is written, and as either engine gives it back. */
export type WholeNumber = number | bigint | string;

export interface AccountRow {
  id: string;
  name: string;
  created_at_ms: WholeNumber;
}

export interface WorkspaceRow {
  id: string;
  account_id: string;
  slug: string;
  name: string;
  is_default: WholeNumber;
  created_at_ms: WholeNumber;
}

export interface KeyRow {
  hash: string;
  account_id: string;
  workspace_id: string;
  name: string;
  label: string;
  is_management: WholeNumber;
  disabled: WholeNumber;
  created_at_ms: WholeNumber;
  updated_at_ms: WholeNumber | null;
  expires_at_ms: WholeNumber | null;
  creator_user_id: string | null;
}

/** Lists are JSON. A deleted credential has no secret. */
export interface ByokRow {
  id: string;
  account_id: string;
  workspace_id: string | null;
  provider: string;
  name: string | null;
  label: string;
  encrypted_secret: string | null;
  encryption_key_id: string | null;
  version: WholeNumber;
  sort_order: WholeNumber;
  disabled: WholeNumber;
  is_fallback: WholeNumber;
  is_required: WholeNumber;
  is_byok_only: WholeNumber;
  declared_zdr: WholeNumber | null;
  allowed_models: string | null;
  allowed_user_ids: string | null;
  allowed_api_key_hashes: string | null;
  created_at_ms: WholeNumber;
  updated_at_ms: WholeNumber | null;
  deleted_at_ms: WholeNumber | null;
}
