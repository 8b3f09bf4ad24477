import { newWorkspace } from '../../../src/manage/workspaces/new-workspace.ts';
import type { Caller } from '../../../src/ports/tenancy/caller.ts';
import { NO_GUARDRAILS } from '../../../src/ports/tenancy/guardrails.ts';
import type { Key, Workspace } from '../../../src/ports/tenancy/tenancy.ts';

/** A workspace with the settings that every workspace begins with. */
export function workspaceOf(more: Partial<Workspace> = {}): Workspace {
  return newWorkspace({
    id: 'workspace',
    accountId: 'account',
    slug: 'default',
    name: 'Default Workspace',
    isDefault: true,
    createdAtMs: 1,
    ...more,
  });
}

/** A plain key without a limit. */
export function keyOf(more: Partial<Key> = {}): Key {
  return {
    hash: 'a'.repeat(64),
    accountId: 'account',
    workspaceId: 'workspace',
    name: 'a key',
    label: 'sk-...0000',
    isManagement: false,
    disabled: false,
    createdAtMs: 1,
    updatedAtMs: null,
    expiresAtMs: null,
    creatorUserId: null,
    limitNanos: null,
    limitReset: null,
    includeByokInLimit: false,
    allowedModels: null,
    requestsPerMinute: null,
    tokensPerMinute: null,
    externalUser: null,
    fileMember: null,
    ...more,
  };
}

/** The caller of a key, in a workspace without budgets. */
export function callerOf(key: Partial<Key> = {}, more: Partial<Caller> = {}): Caller {
  const whole = keyOf(key);
  const { accountId, workspaceId } = whole;
  return {
    key: whole,
    accountId,
    workspaceId,
    workspace: workspaceOf({ id: workspaceId, accountId }),
    limits: { key: [], workspace: [] },
    scopes: { key: whole.hash, workspace: workspaceId, account: accountId },
    guardrails: NO_GUARDRAILS,
    ...more,
  };
}
