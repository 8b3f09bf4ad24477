import { Link } from '../../address/link.tsx';
import type { BudgetObject, WorkspaceObject } from '../../api/contract.ts';
import { copiedMoney, shortMoney } from '../../format/money.ts';
import { PER_WINDOW } from '../../format/windows.ts';
import { BudgetBar, shareSpent } from '../../parts/budget-bar.tsx';

/** Workspaces that are shown: those whose budgets are used up most. */
const MAX_SHOWN = 3;

interface Props {
  readonly workspaces: readonly WorkspaceObject[];
  /** Shows this one alone; null = all. */
  readonly workspaceId: string | null;
}

/** Budgets of workspaces above their keys, because the first to be used up stops a key. */
export function BudgetStrip({ workspaces, workspaceId }: Props) {
  const shown = workspaces
    .filter(({ id, budgets = [] }) => budgets.length > 0 && (workspaceId === null || id === workspaceId))
    .sort((one, other) => fullest(other) - fullest(one))
    .slice(0, MAX_SHOWN);
  if (shown.length === 0) return null;
  return (
    <div class="cols wbs">
      {shown.map(({ id, name, budgets = [] }) => (
        <section class="cell" key={id} aria-label={`Budgets of ${name}`}>
          <div class="hd">
            <h2 class="cut">{name}</h2>
            <Link class="push sm" href={`/workspaces#${id}`}>
              Budgets
            </Link>
          </div>
          {budgets.map((budget) => (
            <BudgetLine key={budget.id} budget={budget} />
          ))}
        </section>
      ))}
    </div>
  );
}

/** One budget: window, bar, spent and limit. */
export function BudgetLine({ budget }: { readonly budget: BudgetObject }) {
  return (
    <div class="wbr">
      <span class="t2">{PER_WINDOW[budget.reset_interval ?? 'lifetime']}</span>
      <BudgetBar spentUsd={budget.used_usd} limitUsd={budget.limit_usd} />
      <span class="num" title={`$${copiedMoney(budget.used_usd)}`}>
        {shortMoney(budget.used_usd)} <span class="dim">of {shortMoney(budget.limit_usd)}</span>
      </span>
    </div>
  );
}

function fullest({ budgets = [] }: WorkspaceObject): number {
  return Math.max(...budgets.map(({ used_usd: used, limit_usd: limit }) => shareSpent(used, limit)));
}
