import type { Generated } from 'kysely';
import type { LimitWindow } from '../../kit/time/windows.ts';

/**
 * The tables for Kysely. Integers come back as bigint from SQLite and as text from PostgreSQL, so read each with
 * Number() or BigInt(). Booleans are 0 and 1, which both engines support.
 */
export interface Tables {
  accounts: AccountRow;
  workspaces: WorkspaceRow;
  budgets: BudgetRow;
  keys: KeyRow;
  members: MemberRow;
  workspace_members: WorkspaceMemberRow;
  byok_credentials: ByokRow;
  guardrails: GuardrailRow;
  guardrail_assignments: GuardrailAssignmentRow;
  destinations: DestinationRow;
  gateway_providers: GatewayProviderRow;
  generations: GenerationTableRow;
  refused_requests: RefusedRequestRow;
  deleted_keys: DeletedKeyRow;
  ledger_tallies: LedgerTallyRow;
  ledger_reservations: LedgerReservationRow;
  ledger_grants: LedgerGrantRow;
  ledger_journals: LedgerJournalRow;
  ledger_booked: LedgerBookedRow;
  ledger_gateways: LedgerGatewayRow;
  files: FileRow;
  apps: AppRow;
  app_categories: AppCategoryRow;
  imported_usage: ImportedUsageRow;
  mcp_approvals: McpApprovalRow;
  mcp_seen_tools: McpSeenToolsRow;
  sessions: SessionRow;
  endpoint_prices: EndpointPriceRow;
  endpoint_calls: EndpointCallsRow;
  follower_notes: FollowerNoteRow;
  spooled_contents: SpooledContentRow;
  /** SQLite only. */
  followed_workspaces: { workspace_id: string };
  /** SQLite only. */
  followed_generations: FollowedGenerationRow;
  /** The highest number that a table has given. SQLite only. */
  sqlite_sequence: { name: string; seq: WholeNumber };
  classifiers: ClassifierRow;
  classifications: ClassificationRow;
  /** One row: the place that was given last. */
  classification_places: { id: WholeNumber; last: WholeNumber };
  classifier_runs: ClassifierRunRow;
  /** Facts about the installation, one per row. */
  installation: { name: string; value: string };
  schema_migrations: { name: string; applied_at_ms: WholeNumber };
  /** Applied migrations that programs rely on others for: see `Migration.requires`. */
  schema_requirements: { name: string; requires: string };
}

/** An integer as it is written, and as either engine returns it. */
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
  description: string | null;
  default_text_model: string | null;
  default_image_model: string | null;
  default_provider_sort: string | null;
  is_observability_io_logging_enabled: WholeNumber;
  is_observability_broadcast_enabled: WholeNumber;
  is_data_discount_logging_enabled: WholeNumber;
  io_logging_sampling_rate: number;
  /** A list as JSON. */
  io_logging_api_key_ids: string | null;
  include_byok_in_budgets: WholeNumber;
  created_by: string | null;
  updated_at_ms: WholeNumber | null;
  file_member: string | null;
  budgets_file_member: string | null;
}

export interface BudgetRow {
  id: string;
  workspace_id: string;
  limit_window: string;
  limit_nanos: WholeNumber;
  created_at_ms: WholeNumber;
  updated_at_ms: WholeNumber;
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
  limit_nanos: WholeNumber | null;
  limit_reset: string | null;
  include_byok_in_limit: WholeNumber;
  external_user: string | null;
  file_member: string | null;
  /** A list as JSON. */
  allowed_models: string | null;
  requests_per_minute: WholeNumber | null;
  tokens_per_minute: WholeNumber | null;
}

export interface MemberRow {
  id: string;
  account_id: string;
  email: string;
  first_name: string | null;
  last_name: string | null;
  role: string;
  state: string;
  created_at_ms: WholeNumber;
  updated_at_ms: WholeNumber | null;
  file_member: string | null;
}

export interface WorkspaceMemberRow {
  workspace_id: string;
  user_id: string;
  role: string;
  created_at_ms: WholeNumber;
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
  file_member: string | null;
}

/** `settings` is JSON. */
export interface GuardrailRow {
  id: string;
  account_id: string;
  workspace_id: string;
  name: string;
  settings: string;
  created_at_ms: WholeNumber;
  updated_at_ms: WholeNumber | null;
  file_member: string | null;
}

/** `subject`: the hash of a key, or the id of a member. */
export interface GuardrailAssignmentRow {
  id: string;
  guardrail_id: string;
  account_id: string;
  kind: string;
  subject: string;
  assigned_by: string | null;
  created_at_ms: WholeNumber;
  file_member: string | null;
}

/** `settings` is JSON. */
export interface GatewayProviderRow {
  id: string;
  slug: string;
  /** JSON. */
  settings: string;
  /** Null = it needs no key. */
  encrypted_secret: string | null;
  encryption_key_id: string | null;
  version: WholeNumber;
  disabled: WholeNumber;
  created_at_ms: WholeNumber;
  updated_at_ms: WholeNumber | null;
}

export interface DestinationRow {
  id: string;
  account_id: string;
  workspace_id: string;
  type: string;
  name: string;
  settings: string;
  encrypted_secret: string | null;
  encryption_key_id: string | null;
  version: WholeNumber;
  is_enabled: WholeNumber;
  /** Derived from the settings: prompts and answers are kept for it. */
  reads_content: WholeNumber;
  created_at_ms: WholeNumber;
  updated_at_ms: WholeNumber | null;
  file_member: string | null;
}

/** `details` is JSON. */
export interface GenerationTableRow {
  id: string;
  account_id: string;
  workspace_id: string;
  key_hash: string;
  settled_at_ms: WholeNumber;
  credit_nanos: WholeNumber;
  byok_nanos: WholeNumber;
  written_off_nanos: WholeNumber;
  written_off_cause: string | null;
  details: string;
}

export interface RefusedRequestRow {
  id: string;
  account_id: string;
  workspace_id: string;
  key_hash: string;
  refused_at_ms: WholeNumber;
  details: string;
}

/** The owner of a key that was deleted, written by a trigger. */
export interface DeletedKeyRow {
  hash: string;
  account_id: string;
  workspace_id: string;
  deleted_at_ms: WholeNumber;
}

/** Sums with their windows, nano-dollars; the last three columns are for accounts only. PostgreSQL only. */
export interface LedgerTallyRow extends Record<`${'credit' | 'byok'}_${LimitWindow}`, WholeNumber> {
  scope: string;
  id: string;
  window_daily: WholeNumber;
  window_weekly: WholeNumber;
  window_monthly: WholeNumber;
  reserved_credit: WholeNumber;
  reserved_byok: WholeNumber;
  granted_nanos: WholeNumber;
  is_enforced: WholeNumber;
  left_nanos: WholeNumber;
}

/** The reservation of an open generation. Times are by the database's clock. */
export interface LedgerReservationRow {
  generation_id: string;
  gateway_id: string;
  key_hash: string;
  workspace_id: string;
  account_id: string;
  member_id: string | null;
  credit_nanos: WholeNumber;
  byok_nanos: WholeNumber;
  reserved_at_ms: WholeNumber;
  expires_at_ms: WholeNumber;
  /** PostgreSQL only: the gateway that holds it has a row in `ledger_gateways`. */
  has_heartbeat?: boolean;
}

/** When a gateway was last seen, by the database's clock. PostgreSQL only. */
export interface LedgerGatewayRow {
  gateway_id: string;
  seen_at_ms: WholeNumber;
}

/** Sum of an account's grants by then; null = its balance is not enforced. */
export interface LedgerGrantRow {
  account_id: string;
  number: WholeNumber;
  granted_nanos: WholeNumber | null;
  granted_at_ms: WholeNumber;
}

/** Booked ends of a gateway's journal. PostgreSQL only. */
export interface LedgerJournalRow {
  gateway_id: string;
  booked_to: WholeNumber;
  /** Sequences of ends up to `booked_to` that are not booked, as JSON. */
  unbooked: string;
  /** Owner token of the run that books; null = none recorded. */
  owner: string | null;
}

/** Sums that a gateway's journal has booked for an account; gateway '' = before journals had rows. PostgreSQL only. */
export interface LedgerBookedRow {
  gateway_id: string;
  account_id: string;
  credit_nanos: WholeNumber;
  byok_nanos: WholeNumber;
  written_off_nanos: WholeNumber;
  generations: WholeNumber;
}

export interface FileRow {
  id: string;
  account_id: string;
  workspace_id: string;
  key_hash: string | null;
  filename: string;
  mime_type: string;
  size_bytes: WholeNumber;
  is_downloadable: WholeNumber;
  created_at_ms: WholeNumber;
}

export interface AppRow {
  id: WholeNumber;
  host: string;
  url: string;
  title: string | null;
  /** When the title was last seen; null without a title. */
  titled_at_ms: WholeNumber | null;
}

/** One category of an app; `place` is its place among them. */
export interface AppCategoryRow {
  category: string;
  host: string;
  place: WholeNumber;
}

/** A slice of imported usage. */
export interface ImportedUsageRow {
  id: string;
  imported_at_ms: WholeNumber;
  last_event_ms: WholeNumber;
  events: WholeNumber;
  content: string;
}

/** An approval that was used for a call of an MCP server. */
export interface McpApprovalRow {
  id: string;
  generation_id: string;
  claimed_at_ms: WholeNumber;
}

/** The tools of an MCP server as an account saw them. */
export interface McpSeenToolsRow {
  account_id: string;
  server: string;
  digests: string;
  changed_at_ms: string;
  seen_at_ms: WholeNumber;
}

/** A sign-in to the console. */
export interface SessionRow {
  id: string;
  token_hash: string;
  account_id: string;
  key_hash: string;
  created_at_ms: WholeNumber;
  last_seen_at_ms: WholeNumber;
  expires_at_ms: WholeNumber;
  user_agent: string | null;
  address: string;
}

/** How far a follower has come. */
export interface FollowerNoteRow {
  id: string;
  place: string;
  taken: WholeNumber;
  dropped: WholeNumber;
  waiting: WholeNumber;
  problem: string | null;
  problem_since_ms: WholeNumber | null;
  updated_at_ms: WholeNumber;
}

/** Content that followers have yet to read; `content` is compressed, in base64. */
export interface SpooledContentRow {
  generation_id: string;
  stored_at_ms: WholeNumber;
  characters: WholeNumber;
  bytes: WholeNumber;
  content: string;
}

/** The number of a generation in a workspace that has followers. */
export interface FollowedGenerationRow {
  sequence: Generated<number | bigint>;
  generation_id: string;
  workspace_id: string;
}

/** A price of an endpoint from a moment on. */
export interface EndpointPriceRow {
  model: string;
  endpoint: string;
  member: string;
  min_prompt_tokens: WholeNumber;
  since_ms: WholeNumber;
  price: string | null;
}

/** Calls of an endpoint in an hour, as one run of a gateway has counted them. */
export interface EndpointCallsRow {
  hour: WholeNumber;
  site: string;
  run_id: string;
  calls: WholeNumber;
  failures: WholeNumber;
}

/** `settings`: everything else that can be set, as JSON. */
export interface ClassifierRow {
  id: string;
  account_id: string;
  workspace_id: string;
  name: string;
  is_active: WholeNumber;
  settings: string;
  created_at_ms: WholeNumber;
  updated_at_ms: WholeNumber | null;
  file_member: string | null;
}

/** What a classifier has said of a generation. `tags`: values by dimension, as JSON. */
export interface ClassificationRow {
  place: WholeNumber;
  classifier_id: string;
  generation_id: string;
  created_at_ms: WholeNumber;
  tags: string;
  problem: string | null;
  classified_at_ms: WholeNumber;
}

/** A classifier over the past. `progress`: what is known of it besides its state, as JSON. */
export interface ClassifierRunRow {
  id: string;
  classifier_id: string;
  account_id: string;
  from_ms: WholeNumber;
  to_ms: WholeNumber;
  budget_nanos: string | null;
  state: string;
  progress: string;
  created_at_ms: WholeNumber;
}

/** A nullable integer column as a number. */
export function numberOrNull(value: WholeNumber | null): number | null {
  return value === null ? null : Number(value);
}
