import type { SetBudget } from '../../contract/workspaces/budget.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { nanosOf } from '../../kit/money.ts';
import { LIMIT_WINDOWS, type LimitWindow } from '../../kit/time/windows.ts';
import type { Budget, BudgetStore, FileMember, Workspace } from '../../ports/tenancy.ts';
import { refuseDeclared, requireFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import type { Workspaces } from './workspaces.ts';

export interface BudgetsDependencies {
  readonly store: BudgetStore;
  readonly workspaces: Pick<Workspaces, 'get'>;
  readonly sources: Sources;
  /** Called with the workspace whose budgets were changed. */
  readonly changed: (workspace: Pick<Workspace, 'id' | 'accountId'>) => void;
}

/** Budgets, and whether usage with BYOK credentials counts towards them. */
export interface BudgetsOfWorkspace {
  readonly budgets: readonly Budget[];
  readonly includeByok: boolean;
  readonly fileMember: FileMember;
}

/** The budgets of workspaces. Each operation sees one account; a workspace of another is a 404. */
export class Budgets {
  readonly #dependencies: BudgetsDependencies;

  constructor(dependencies: BudgetsDependencies) {
    this.#dependencies = dependencies;
  }

  /** The shortest window first. */
  async list(accountId: string, idOrSlug: string): Promise<BudgetsOfWorkspace> {
    const { store, workspaces } = this.#dependencies;
    const { id, includeByokInBudgets, budgetsFileMember } = await workspaces.get(accountId, idOrSlug);
    return {
      budgets: await store.listBudgets(id),
      includeByok: includeByokInBudgets,
      fileMember: budgetsFileMember,
    };
  }

  async get(accountId: string, idOrSlug: string, interval: string) {
    const window = windowOf(interval);
    const { budgets, ...rest } = await this.list(accountId, idOrSlug);
    return { budget: requireFound(budgets.find((budget) => budget.window === window)), ...rest };
  }

  async set(accountId: string, idOrSlug: string, interval: string, wanted: SetBudget) {
    const { store, workspaces, sources, changed } = this.#dependencies;
    const window = windowOf(interval);
    const workspace = await workspaces.get(accountId, idOrSlug);
    refuseDeclared('budget', workspace.budgetsFileMember);
    const limitNanos = nanosOf(wanted.limit_usd);
    if (limitNanos === 0n) {
      throw invalidRequest([{ path: 'limit_usd', message: 'must be a nano-dollar or more' }]);
    }
    const nowMs = sources.clock.now();
    const made: Budget = {
      id: sources.uuid(),
      workspaceId: workspace.id,
      window,
      limitNanos,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    const includeByok = wanted.include_byok_in_budgets;
    const budget = await store.setBudget(
      workspace.id,
      (current) => {
        requireOrder([...current.filter((other) => other.window !== window), made], window);
        return made;
      },
      includeByok,
    );
    changed(workspace);
    return {
      budget: requireFound(budget),
      includeByok: includeByok ?? workspace.includeByokInBudgets,
      fileMember: workspace.budgetsFileMember,
    };
  }

  /** Deletes a budget; does nothing if there is none. */
  async delete(accountId: string, idOrSlug: string, interval: string): Promise<void> {
    const { store, workspaces, changed } = this.#dependencies;
    const window = windowOf(interval);
    const workspace = await workspaces.get(accountId, idOrSlug);
    refuseDeclared('budget', workspace.budgetsFileMember);
    await store.deleteBudget(workspace.id, window);
    changed(workspace);
  }
}

function windowOf(interval: string): LimitWindow {
  const window = LIMIT_WINDOWS.find((known) => known === interval);
  if (window !== undefined) return window;
  throw invalidRequest([{ path: 'interval', message: `must be one of ${LIMIT_WINDOWS.join(', ')}` }]);
}

/** Throws 400 unless budgets increase with the length of their windows. */
function requireOrder(budgets: readonly Budget[], set: LimitWindow): void {
  const wrong = disorderOf(budgets);
  if (wrong === undefined) return;
  const [shorter, longer] = wrong;
  const message =
    longer.window === set
      ? `must be more than the ${shorter.window} budget`
      : `must be less than the ${longer.window} budget`;
  throw invalidRequest([{ path: 'limit_usd', message }]);
}

type Limit = Pick<Budget, 'window' | 'limitNanos'>;

/** The first two neighbours of which the longer window has no higher budget; undefined if all are in order. */
export function disorderOf(budgets: readonly Limit[]): readonly [shorter: Limit, longer: Limit] | undefined {
  const inOrder = LIMIT_WINDOWS.flatMap((window) => budgets.filter((budget) => budget.window === window));
  for (const [index, longer] of inOrder.entries()) {
    const shorter = inOrder[index - 1];
    if (shorter !== undefined && shorter.limitNanos >= longer.limitNanos) return [shorter, longer];
  }
  return undefined;
}
