import type { BudgetObject } from '../api/contract.ts';
import { limitColumn, moneyColumn, type ShownMoney } from '../format/money.ts';
import { PER_WINDOW } from '../format/windows.ts';
import { BudgetBar } from './budget-bar.tsx';
import { MoneyText } from './money-text.tsx';
import { useReserved } from './use-reserved.ts';

/** How the amounts of budgets that stand below each other are written. */
export interface BudgetMoney {
  readonly spent: (usd: number) => ShownMoney;
  readonly limit: (usd: number) => string;
}

export function budgetMoney(budgets: readonly BudgetObject[]): BudgetMoney {
  return {
    spent: moneyColumn(budgets.map(({ used_usd: used }) => used)),
    limit: limitColumn(budgets.map(({ limit_usd: limit }) => limit)),
  };
}

interface Props {
  readonly budget: BudgetObject;
  readonly money: BudgetMoney;
}

/** One budget of a workspace: window, bar, spent and limit. */
export function BudgetLine({ budget, money }: Props) {
  const reserved = useReserved();
  return (
    <div class="wbr">
      <span class="t2">{PER_WINDOW[budget.reset_interval ?? 'lifetime']}</span>
      <BudgetBar
        spentUsd={budget.used_usd}
        limitUsd={budget.limit_usd}
        reservedUsd={reserved({ workspace: budget.workspace_id })}
      />
      <span class="num">
        <MoneyText money={money.spent(budget.used_usd)} />{' '}
        <span class="dim">of {money.limit(budget.limit_usd)}</span>
      </span>
    </div>
  );
}
