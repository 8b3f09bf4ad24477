import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { WorkspaceStore } from '../../ports/tenancy/tenancy.ts';

/** Checks the workspace id of a request; without one returns the account's default workspace. Throws 400 or 404. */
export async function requireWorkspaceId(
  store: Pick<WorkspaceStore, 'defaultWorkspaceOf' | 'findWorkspaceById'>,
  accountId: string,
  given: string | undefined,
): Promise<string> {
  if (given === undefined) {
    const workspace = await store.defaultWorkspaceOf(accountId);
    if (workspace !== undefined) return workspace.id;
    throw invalidRequest([{ path: 'workspace_id', message: 'is required: there is no default workspace' }]);
  }
  const workspace = await store.findWorkspaceById(accountId, given.toLowerCase());
  if (workspace !== undefined) return workspace.id;
  throw new GatewayError('not-found', 'workspace_id: there is no such workspace');
}

/** The workspace that a list is of; null = every one of the account. Throws 400 or 404. */
export async function listedWorkspaceId(
  store: Pick<WorkspaceStore, 'defaultWorkspaceOf' | 'findWorkspaceById'>,
  accountId: string,
  query: { readonly workspace_id?: string; readonly all_workspaces?: boolean | null },
): Promise<string | null> {
  if (query.all_workspaces !== true) return requireWorkspaceId(store, accountId, query.workspace_id);
  if (query.workspace_id === undefined) return null;
  throw invalidRequest([{ path: 'all_workspaces', message: 'must not be true together with workspace_id' }]);
}
