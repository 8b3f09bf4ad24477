import { useQuery } from '@tanstack/preact-query';
import type { WorkspaceObject } from './contract.ts';
import { partMeta } from './part.ts';
import { ask } from './request.ts';

const PER_PAGE = 100;

/** Pages that are read at most; an account with more workspaces shows the oldest ones. */
const MAX_PAGES = 20;

export const WORKSPACES_QUERY = ['workspaces'];

/** All workspaces of the account with their budgets, oldest first. */
export function useWorkspaces() {
  return useQuery({
    queryKey: WORKSPACES_QUERY,
    meta: partMeta('The list of workspaces', { exceptAt: '/workspaces' }),
    queryFn: readWorkspaces,
  });
}

async function readWorkspaces(): Promise<readonly WorkspaceObject[]> {
  const found: WorkspaceObject[] = [];
  for (let page = 0; page < MAX_PAGES; page++) {
    const { data, total_count: total } = await ask<{ data: WorkspaceObject[]; total_count: number }>(
      '/workspaces',
      { query: { offset: page * PER_PAGE, limit: PER_PAGE, include_budgets: true } },
    );
    found.push(...data);
    if (found.length >= total || data.length === 0) break;
  }
  return found;
}

/** The name of a workspace; its id while it is not known. */
export function workspaceName(workspaces: readonly WorkspaceObject[] | undefined, id: string): string {
  return workspaces?.find((workspace) => workspace.id === id)?.name ?? id;
}

export function defaultWorkspaceId(workspaces: readonly WorkspaceObject[]): string {
  return (workspaces.find(({ slug }) => slug === 'default') ?? workspaces[0])?.id ?? '';
}
