import type { LimitWindow, ResetWindow } from '../../../kit/time/windows.ts';
import type { Account, Budget, Key, MemberState, Workspace } from '../../../ports/tenancy/tenancy.ts';
import {
  type AccountRow,
  type BudgetRow,
  type KeyRow,
  numberOrNull,
  type WholeNumber,
  type WorkspaceRow,
} from '../tables.ts';

/** Converts accounts, workspaces, budgets and keys to rows and back. */

export function accountRow({ id, name, createdAtMs }: Account): AccountRow {
  return { id, name, created_at_ms: createdAtMs };
}

export function accountOf(row: AccountRow): Account {
  return { id: row.id, name: row.name, createdAtMs: Number(row.created_at_ms) };
}

export function workspaceRow(workspace: Workspace): WorkspaceRow {
  return {
    id: workspace.id,
    account_id: workspace.accountId,
    slug: workspace.slug,
    name: workspace.name,
    is_default: workspace.isDefault ? 1 : 0,
    created_at_ms: workspace.createdAtMs,
    description: workspace.description,
    default_text_model: workspace.defaultTextModel,
    default_image_model: workspace.defaultImageModel,
    default_provider_sort: workspace.defaultProviderSort,
    is_observability_io_logging_enabled: workspace.isObservabilityIoLoggingEnabled ? 1 : 0,
    is_observability_broadcast_enabled: workspace.isObservabilityBroadcastEnabled ? 1 : 0,
    is_data_discount_logging_enabled: workspace.isDataDiscountLoggingEnabled ? 1 : 0,
    io_logging_sampling_rate: workspace.ioLoggingSamplingRate,
    io_logging_api_key_ids:
      workspace.ioLoggingApiKeyIds === null ? null : JSON.stringify(workspace.ioLoggingApiKeyIds),
    include_byok_in_budgets: workspace.includeByokInBudgets ? 1 : 0,
    created_by: workspace.createdBy,
    updated_at_ms: workspace.updatedAtMs,
    file_member: workspace.fileMember,
    budgets_file_member: workspace.budgetsFileMember,
  };
}

/** A row with what `withContentReaders` adds. */
export type ReadWorkspaceRow = WorkspaceRow & { readonly has_content_readers: WholeNumber };

export function workspaceOf(row: ReadWorkspaceRow): Workspace {
  return {
    id: row.id,
    accountId: row.account_id,
    slug: row.slug,
    name: row.name,
    isDefault: isTrue(row.is_default),
    createdAtMs: Number(row.created_at_ms),
    description: row.description,
    defaultTextModel: row.default_text_model,
    defaultImageModel: row.default_image_model,
    defaultProviderSort: row.default_provider_sort,
    isObservabilityIoLoggingEnabled: isTrue(row.is_observability_io_logging_enabled),
    isObservabilityBroadcastEnabled: isTrue(row.is_observability_broadcast_enabled),
    isDataDiscountLoggingEnabled: isTrue(row.is_data_discount_logging_enabled),
    ioLoggingSamplingRate: Number(row.io_logging_sampling_rate),
    ioLoggingApiKeyIds:
      row.io_logging_api_key_ids === null ? null : (JSON.parse(row.io_logging_api_key_ids) as number[]),
    includeByokInBudgets: isTrue(row.include_byok_in_budgets),
    createdBy: row.created_by,
    updatedAtMs: numberOrNull(row.updated_at_ms),
    fileMember: row.file_member,
    budgetsFileMember: row.budgets_file_member,
    hasContentReaders: isTrue(row.has_content_readers),
  };
}

export function budgetRow(budget: Budget): BudgetRow {
  return {
    id: budget.id,
    workspace_id: budget.workspaceId,
    limit_window: budget.window,
    limit_nanos: budget.limitNanos,
    created_at_ms: budget.createdAtMs,
    updated_at_ms: budget.updatedAtMs,
  };
}

export function budgetOf(row: BudgetRow): Budget {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    window: row.limit_window as LimitWindow,
    limitNanos: BigInt(row.limit_nanos),
    createdAtMs: Number(row.created_at_ms),
    updatedAtMs: Number(row.updated_at_ms),
  };
}

export function keyRow(key: Key): KeyRow {
  return {
    hash: key.hash,
    account_id: key.accountId,
    workspace_id: key.workspaceId,
    name: key.name,
    label: key.label,
    is_management: key.isManagement ? 1 : 0,
    disabled: key.disabled ? 1 : 0,
    created_at_ms: key.createdAtMs,
    updated_at_ms: key.updatedAtMs,
    expires_at_ms: key.expiresAtMs,
    creator_user_id: key.creatorUserId,
    limit_nanos: key.limitNanos,
    limit_reset: key.limitReset,
    include_byok_in_limit: key.includeByokInLimit ? 1 : 0,
    external_user: key.externalUser,
    file_member: key.fileMember,
    allowed_models: key.allowedModels === null ? null : JSON.stringify(key.allowedModels),
    requests_per_minute: key.requestsPerMinute,
    tokens_per_minute: key.tokensPerMinute,
  };
}

/** A row with what the statements that read keys add. */
export type ReadKeyRow = KeyRow & { readonly owner_state: string | null };

export function keyOf(row: ReadKeyRow): Key {
  return {
    hash: row.hash,
    accountId: row.account_id,
    workspaceId: row.workspace_id,
    name: row.name,
    label: row.label,
    isManagement: isTrue(row.is_management),
    disabled: isTrue(row.disabled),
    createdAtMs: Number(row.created_at_ms),
    updatedAtMs: numberOrNull(row.updated_at_ms),
    expiresAtMs: numberOrNull(row.expires_at_ms),
    creatorUserId: row.creator_user_id,
    limitNanos: row.limit_nanos === null ? null : BigInt(row.limit_nanos),
    limitReset: row.limit_reset as ResetWindow | null,
    includeByokInLimit: isTrue(row.include_byok_in_limit),
    externalUser: row.external_user,
    fileMember: row.file_member,
    allowedModels: row.allowed_models === null ? null : (JSON.parse(row.allowed_models) as string[]),
    requestsPerMinute: numberOrNull(row.requests_per_minute),
    tokensPerMinute: numberOrNull(row.tokens_per_minute),
    ...(row.owner_state !== null && { ownerState: row.owner_state as MemberState }),
  };
}

function isTrue(value: WholeNumber): boolean {
  return Number(value) === 1;
}
