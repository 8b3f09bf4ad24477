import type { SetBudget } from '../../contract/workspaces/budget.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { type Nanos, nanosOf } from '../../kit/money.ts';
import { LIMIT_WINDOWS, type LimitWindow } from '../../kit/time/windows.ts';
import type { Ledger } from '../../ports/money/ledger.ts';
import type { Budget, BudgetStore, FileMember, Workspace } from '../../ports/tenancy/tenancy.ts';
import { ledgerOr503, refuseDeclared, requireFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { remainingNanos, spentNanos } from '../spent-of-limit.ts';
import type { Workspaces } from './workspaces.ts';

export interface BudgetsDependencies {
  readonly store: BudgetStore;
  readonly workspaces: Pick<Workspaces, 'get'>;
  readonly ledger: Pick<Ledger, 'spendingOf'>;
  readonly sources: Sources;
  readonly changed: (workspace: Pick<Workspace, 'id' | 'accountId'>) => void;
}

/** A budget and what is spent of it in its current window; open reservations are not counted. */
export interface BudgetStatement extends Budget {
  readonly usedNanos: Nanos;
  /** At least 0. */
  readonly leftNanos: Nanos;
}

/** Budgets, and whether usage with BYOK credentials counts towards them. */
export interface BudgetsOfWorkspace {
  readonly budgets: readonly BudgetStatement[];
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
    const workspace = await workspaces.get(accountId, idOrSlug);
    const { includeByokInBudgets: includeByok, budgetsFileMember: fileMember } = workspace;
    const budgets = await store.listBudgets(workspace.id);
    return { budgets: await this.#statements(budgets, [workspace]), includeByok, fileMember };
  }

  /** The budgets of several workspaces, by the id of the workspace; of each the shortest window first. */
  async listOf(workspaces: readonly BudgetedWorkspace[]): Promise<Map<string, BudgetStatement[]>> {
    const budgets = await this.#dependencies.store.listBudgetsOf(workspaces.map(({ id }) => id));
    const statements = await this.#statements(budgets, workspaces);
    return new Map(
      workspaces.map(({ id }) => [id, statements.filter(({ workspaceId }) => workspaceId === id)]),
    );
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
    const includeByokInBudgets = includeByok ?? workspace.includeByokInBudgets;
    const [statement] = await this.#statements(
      [requireFound(budget)],
      [{ id: workspace.id, includeByokInBudgets }],
    );
    return {
      budget: requireFound(statement),
      includeByok: includeByokInBudgets,
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

  /** Adds to budgets what their workspaces have spent. Throws 503 while the ledger is away. */
  async #statements(
    budgets: readonly Budget[],
    workspaces: readonly BudgetedWorkspace[],
  ): Promise<BudgetStatement[]> {
    if (budgets.length === 0) return [];
    const { ledger, sources } = this.#dependencies;
    const ids = workspaces.map(({ id }) => id);
    const spendings = await ledgerOr503(ledger.spendingOf('workspace', ids, sources.clock.now()));
    const indexes = new Map(ids.map((id, index) => [id, index]));
    return budgets.map((budget) => {
      const index = indexes.get(budget.workspaceId) ?? -1;
      const [spending, workspace] = [spendings[index], workspaces[index]];
      if (spending === undefined || workspace === undefined)
        throw new Error('the ledger left a workspace out');
      const { window, limitNanos: nanos } = budget;
      const limit = { window, nanos, countsByok: workspace.includeByokInBudgets };
      return {
        ...budget,
        usedNanos: spentNanos(limit, spending),
        leftNanos: remainingNanos(limit, spending),
      };
    });
  }
}

type BudgetedWorkspace = Pick<Workspace, 'id' | 'includeByokInBudgets'>;

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
