import { ask, type Query } from './request.ts';

const PER_PAGE = 100;

/** All objects of a list that comes in pages. */
export async function readPages<T>(path: string, query: Query): Promise<readonly T[]> {
  const found: T[] = [];
  for (;;) {
    const { data, total_count: total } = await ask<{ data: T[]; total_count: number }>(path, {
      query: { ...query, offset: found.length, limit: PER_PAGE },
    });
    found.push(...data);
    if (found.length >= total || data.length === 0) return found;
  }
}

/** The objects of a workspace; null = those of all workspaces. */
export function readOfWorkspace<T>(path: string, workspaceId: string | null): Promise<readonly T[]> {
  return readPages(path, workspaceId === null ? { all_workspaces: true } : { workspace_id: workspaceId });
}
