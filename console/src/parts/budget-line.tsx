import type { BudgetObject } from '../api/contract.ts';
import { shortMoney } from '../format/money.ts';
import { PER_WINDOW } from '../format/windows.ts';
import { BudgetBar } from './budget-bar.tsx';
import { exactUsd } from './exact.ts';
import { useReserved } from './use-reserved.ts';

/** One budget of a workspace: window, bar, spent and limit. */
export function BudgetLine({ budget }: { readonly budget: BudgetObject }) {
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
        <span {...exactUsd(budget.used_usd)}>{shortMoney(budget.used_usd)}</span>{' '}
        <span class="dim">of {shortMoney(budget.limit_usd)}</span>
      </span>
    </div>
  );
}
