import { Link } from '../../address/link.tsx';
import type { WorkspaceObject } from '../../api/contract.ts';
import { shareSpent } from '../../parts/budget-bar.tsx';
import { BudgetLine, budgetMoney } from '../../parts/budget-line.tsx';

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
            <BudgetLine key={budget.id} budget={budget} money={budgetMoney(budgets)} />
          ))}
        </section>
      ))}
    </div>
  );
}

function fullest({ budgets = [] }: WorkspaceObject): number {
  return Math.max(...budgets.map(({ used_usd: used, limit_usd: limit }) => shareSpent(used, limit)));
}
