import { isInTime } from '../../kit/loop/is-in-time.ts';
import type { Nanos } from '../../kit/money.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { LimitWindow } from '../../kit/time/windows.ts';
import type { Ledger } from '../../ports/ledger.ts';
import type { NamedBudget, Tenancy } from '../../ports/tenancy.ts';
import { remainingNanos } from '../spent-of-limit.ts';

/** Balances, and budgets, that are shown: those with the least left. More series would burden a collector. */
const MAX_SHOWN = 100;

/** Budgets that are looked at, oldest first. */
const MAX_BUDGETS_READ = 10_000;

/** How long figures are reused: each reading asks the database. */
const FRESH_MS = 10_000;

/** How long a reader waits for new figures, milliseconds; then it gets the last ones. */
const PATIENCE_MS = 500;

export interface BalanceFigure {
  /** Name of the account. */
  readonly account: string;
  readonly leftNanos: Nanos;
}

export interface BudgetFigure extends BalanceFigure {
  /** Slug of the workspace. */
  readonly workspace: string;
  readonly window: LimitWindow;
}

export interface MoneyFigures {
  readonly balances: readonly BalanceFigure[];
  readonly budgets: readonly BudgetFigure[];
  /** When they were read, milliseconds of the monotonic clock; undefined = never. */
  readonly readAtMs: number | undefined;
}

const NEVER_READ: MoneyFigures = { balances: [], budgets: [], readAtMs: undefined };

export interface MoneyLeftDependencies {
  readonly ledger: Pick<Ledger, 'balancesLeft' | 'spendingOf'>;
  readonly tenancy: Pick<Tenancy, 'listAccounts' | 'listAllBudgets'>;
  readonly clock: Clock;
}

/** Reads what is left of balances and budgets, for metrics. Keeps the last figures while the database is away. */
export class MoneyLeft {
  readonly #dependencies: MoneyLeftDependencies;
  #latest = NEVER_READ;
  #reading: Promise<void> | undefined;

  constructor(dependencies: MoneyLeftDependencies) {
    this.#dependencies = dependencies;
  }

  get latest(): MoneyFigures {
    return this.#latest;
  }

  /**
   * Reads the figures again unless they are fresh. Never rejects, and never takes longer than PATIENCE_MS.
   */
  async refresh(): Promise<void> {
    const { readAtMs } = this.#latest;
    const nowMs = this.#dependencies.clock.monotonic();
    if (readAtMs !== undefined && nowMs - readAtMs < FRESH_MS) return;
    this.#reading ??= this.#read()
      // Without a database the last figures stay; their age says so.
      .catch(() => {})
      .finally(() => {
        this.#reading = undefined;
      });
    await isInTime(this.#reading, PATIENCE_MS);
  }

  async #read(): Promise<void> {
    const { ledger, tenancy, clock } = this.#dependencies;
    const names = new Map((await tenancy.listAccounts()).map(({ id, name }) => [id, name]));
    const nameOf = (id: string) => names.get(id) ?? id;
    const balances = await ledger.balancesLeft(MAX_SHOWN);
    const budgets = await this.#budgets();
    this.#latest = {
      balances: balances.map(({ accountId, leftNanos }) => ({ account: nameOf(accountId), leftNanos })),
      budgets: budgets.map(({ budget, leftNanos }) => ({
        account: nameOf(budget.accountId),
        workspace: budget.slug,
        window: budget.window,
        leftNanos,
      })),
      readAtMs: clock.monotonic(),
    };
  }

  /** The budgets with the least left, least first. */
  async #budgets(): Promise<{ readonly budget: NamedBudget; readonly leftNanos: Nanos }[]> {
    const { ledger, tenancy, clock } = this.#dependencies;
    const budgets = await tenancy.listAllBudgets(MAX_BUDGETS_READ);
    const ids = [...new Set(budgets.map(({ workspaceId }) => workspaceId))];
    const spending = ids.length === 0 ? [] : await ledger.spendingOf('workspace', ids, clock.now());
    const spentBy = new Map(ids.map((id, index) => [id, spending[index]]));
    return budgets
      .flatMap((budget) => {
        const { window, limitNanos: nanos, includeByok: countsByok } = budget;
        const spent = spentBy.get(budget.workspaceId);
        return spent === undefined
          ? []
          : [{ budget, leftNanos: remainingNanos({ window, nanos, countsByok }, spent) }];
      })
      .sort((one, other) => (one.leftNanos < other.leftNanos ? -1 : 1))
      .slice(0, MAX_SHOWN);
  }
}
