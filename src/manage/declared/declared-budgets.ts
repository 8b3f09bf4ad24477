import { nanosOf } from '../../kit/money.ts';
import { LIMIT_WINDOWS, type LimitWindow } from '../../kit/time/windows.ts';
import type { Budget } from '../../ports/tenancy/tenancy.ts';
import type { Application, DeclaredKind, DeclaredPlace, DeclaredWorkspace } from './application.ts';
import { editWorkspace } from './declared-workspace.ts';

/** All budgets of a workspace; ids are those of workspaces. A workspace without the member keeps its own budgets. */
export const DECLARED_BUDGETS: DeclaredKind = {
  async store(application, place) {
    const { declared, workspace, path } = place;
    if (!declared.budgets) return [];
    await replaceBudgets(application, place);
    await editWorkspace(application, workspace, { budgetsFileMember: `${path}.budgets` });
    return [workspace.id];
  },
  async release(application, declared) {
    for (const workspace of application.former.workspaces) {
      if (workspace.budgetsFileMember === null || declared.has(workspace.id)) continue;
      await editWorkspace(application, workspace, { budgetsFileMember: null }, 'released');
    }
  },
};

async function replaceBudgets(
  { dependencies, changes }: Application,
  { declared, workspace }: DeclaredPlace,
): Promise<void> {
  const { tenancy, sources, changedWorkspace } = dependencies;
  const includeByok = declared.budgets?.include_byok_in_budgets ?? false;
  const wanted = budgetsOf(declared.budgets);
  const current = await tenancy.listBudgets(workspace.id);
  const limitIn = (window: LimitWindow) => current.find((budget) => budget.window === window)?.limitNanos;
  const isSame =
    workspace.includeByokInBudgets === includeByok &&
    current.length === wanted.length &&
    wanted.every(({ window, limitNanos }) => limitIn(window) === limitNanos);
  if (isSame) return;
  const nowMs = sources.clock.now();
  const budgets = wanted.map(({ window, limitNanos }): Budget => {
    const known = current.find((budget) => budget.window === window);
    if (known?.limitNanos === limitNanos) return known;
    const { id, createdAtMs } = known ?? { id: sources.uuid(), createdAtMs: nowMs };
    return { id, workspaceId: workspace.id, window, limitNanos, createdAtMs, updatedAtMs: nowMs };
  });
  await tenancy.replaceBudgets(workspace.id, budgets, includeByok);
  changes.updated++;
  changedWorkspace(workspace);
}

/** The limits that a workspace of the file sets, the shortest window first. */
export function budgetsOf(declared: DeclaredWorkspace['budgets']): Pick<Budget, 'window' | 'limitNanos'>[] {
  return LIMIT_WINDOWS.flatMap((window) => {
    const usd = declared?.[window] ?? null;
    return usd === null ? [] : [{ window, limitNanos: nanosOf(usd) }];
  });
}
