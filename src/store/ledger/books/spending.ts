import type { Amount } from '../../../ir/amount.ts';
import type { Nanos } from '../../../kit/money.ts';
import { isOver, type WindowNumbers } from '../../../kit/time/windows.ts';
import type { Spending, Sums } from '../../../ports/money/ledger.ts';

const NO_SUMS: Sums = { lifetime: 0n, daily: 0n, weekly: 0n, monthly: 0n };

export const NOTHING_SPENT: Spending = {
  windows: { daily: 0, weekly: 0, monthly: 0 },
  credit: NO_SUMS,
  byok: NO_SUMS,
};

export function hasSpent({ credit, byok }: Spending): boolean {
  return credit.lifetime !== 0n || byok.lifetime !== 0n;
}

/** Spending with the windows at a moment: sums of expired windows become zero. Windows never move back. */
export function spendingAt(spending: Spending, at: WindowNumbers): Spending {
  const { windows, credit, byok } = spending;
  if (windows.daily === at.daily && windows.weekly === at.weekly && windows.monthly === at.monthly) {
    return spending;
  }
  const daily = !isOver(windows.daily, at.daily);
  const weekly = !isOver(windows.weekly, at.weekly);
  const monthly = !isOver(windows.monthly, at.monthly);
  const current = (sums: Sums): Sums =>
    sums === NO_SUMS
      ? NO_SUMS
      : {
          lifetime: sums.lifetime,
          daily: daily ? sums.daily : 0n,
          weekly: weekly ? sums.weekly : 0n,
          monthly: monthly ? sums.monthly : 0n,
        };
  return {
    windows: {
      daily: daily ? windows.daily : at.daily,
      weekly: weekly ? windows.weekly : at.weekly,
      monthly: monthly ? windows.monthly : at.monthly,
    },
    credit: current(credit),
    byok: current(byok),
  };
}

/** Spending after an amount was spent at a moment. */
export function spend(spending: Spending, amount: Amount, at: WindowNumbers): Spending {
  const { windows, credit, byok } = spendingAt(spending, at);
  return { windows, credit: raised(credit, amount.creditNanos), byok: raised(byok, amount.byokNanos) };
}

function raised(sums: Sums, nanos: Nanos): Sums {
  if (nanos === 0n) return sums;
  return {
    lifetime: sums.lifetime + nanos,
    daily: sums.daily + nanos,
    weekly: sums.weekly + nanos,
    monthly: sums.monthly + nanos,
  };
}
