import type { Nanos } from '../../kit/money.ts';
import type { Limit, Limits, Spending } from '../../ports/ledger.ts';
import type { Budget, KeySettings, WorkspaceSettings } from '../../ports/tenancy.ts';

/** The limit of a key; null = none. */
export function keyLimitOf({ limitNanos, limitReset, includeByokInLimit }: KeySettings): Limit | null {
  if (limitNanos === null) return null;
  return { window: limitReset ?? 'lifetime', nanos: limitNanos, countsByok: includeByokInLimit };
}

/** The limits of a key and of its workspace, for the ledger. */
export function limitsOf(
  key: KeySettings,
  { includeByokInBudgets }: Pick<WorkspaceSettings, 'includeByokInBudgets'>,
  budgets: readonly Budget[],
): Limits {
  const limit = keyLimitOf(key);
  return {
    key: limit === null ? [] : [limit],
    workspace: budgets.map(({ window, limitNanos }) => ({
      window,
      nanos: limitNanos,
      countsByok: includeByokInBudgets,
    })),
  };
}

/** Limit minus settled spending, at least 0; open reservations are not counted (`limit_remaining`). */
export function remainingNanos({ window, nanos, countsByok }: Limit, { credit, byok }: Spending): Nanos {
  const spent = countsByok ? credit[window] + byok[window] : credit[window];
  return nanos > spent ? nanos - spent : 0n;
}
