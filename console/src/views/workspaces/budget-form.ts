import type { BudgetObject } from '../../api/contract.ts';
import type { ApiCall } from '../../api/curl.ts';
import { parseMoney, typedMoney } from '../../format/money-input.ts';
import { LIMIT_WINDOWS, type LimitWindow } from '../../format/windows.ts';
import type { Problems } from '../../parts/form/use-form.ts';

/** The budgets of a workspace, as text while they are typed; empty = none. */
export type BudgetValues = Readonly<Record<LimitWindow, string>> & {
  readonly include_byok_in_budgets: boolean;
};

type KnownBudget = Pick<BudgetObject, 'limit_usd' | 'reset_interval'>;

export function budgetValues(budgets: readonly KnownBudget[], includeByok: boolean): BudgetValues {
  const text = (window: LimitWindow) => typedMoney(limitIn(budgets, window));
  return {
    daily: text('daily'),
    weekly: text('weekly'),
    monthly: text('monthly'),
    lifetime: text('lifetime'),
    include_byok_in_budgets: includeByok,
  };
}

/** The budget of a window; null = none. */
function limitIn(budgets: readonly KnownBudget[], window: LimitWindow): number | null {
  return budgets.find(({ reset_interval: reset }) => (reset ?? 'lifetime') === window)?.limit_usd ?? null;
}

const NAMES: Readonly<Record<LimitWindow, string>> = {
  daily: 'a day',
  weekly: 'a week',
  monthly: 'a month',
  lifetime: 'all time',
};

/** What is wrong with the amounts: each must exceed those of shorter windows. */
export function budgetProblems(values: BudgetValues): Problems<BudgetValues> {
  const problems: Problems<BudgetValues> = {};
  let shorter: { readonly window: LimitWindow; readonly usd: number } | null = null;
  for (const window of LIMIT_WINDOWS) {
    if (values[window].trim() === '') continue;
    const usd = parseMoney(values[window]);
    if (usd === undefined || usd <= 0) {
      problems[window] = 'An amount in dollars above 0. Leave it empty for no budget.';
    } else if (shorter !== null && usd <= shorter.usd) {
      problems[window] = `Must be more than the budget of ${NAMES[shorter.window]}.`;
    } else {
      shorter = { window, usd };
    }
  }
  return problems;
}

/** A request that changes one budget. */
export interface BudgetChange {
  readonly window: LimitWindow;
  /** Null = it is removed. */
  readonly usd: number | null;
}

/**
 * The requests that lead from one set of budgets to another, in an order in which every step is in order too: removed
 * ones first, then raised ones from the longest window, lowered ones from the shortest, and new ones last.
 */
export function budgetChanges(budgets: readonly KnownBudget[], values: BudgetValues): BudgetChange[] {
  const steps = LIMIT_WINDOWS.map((window) => ({
    window,
    before: limitIn(budgets, window),
    usd: values[window].trim() === '' ? null : (parseMoney(values[window]) ?? null),
  })).filter(({ before, usd }) => before !== usd);
  const removed = steps.filter(({ usd }) => usd === null);
  const raised = steps.filter(({ before, usd }) => before !== null && usd !== null && usd > before);
  const lowered = steps.filter(({ before, usd }) => before !== null && usd !== null && usd < before);
  const made = steps.filter(({ before }) => before === null);
  return [...removed, ...raised.reverse(), ...lowered, ...made].map(({ window, usd }) => ({ window, usd }));
}

/** The request of a change. The first one that sets a budget also says what counts. */
export function budgetCall(
  workspaceId: string,
  { window, usd }: BudgetChange,
  includeByok: boolean | undefined,
): ApiCall {
  const path = `/workspaces/${workspaceId}/budgets/${window}`;
  if (usd === null) return { method: 'DELETE', path };
  const body = {
    limit_usd: usd,
    ...(includeByok !== undefined && { include_byok_in_budgets: includeByok }),
  };
  return { method: 'PUT', path, body };
}
