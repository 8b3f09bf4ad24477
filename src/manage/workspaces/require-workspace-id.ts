import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { WorkspaceStore } from '../../ports/tenancy.ts';

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
