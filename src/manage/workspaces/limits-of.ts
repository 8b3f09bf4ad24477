import type { Limit, Limits } from '../../ports/ledger.ts';
import type { Budget, KeySettings, WorkspaceSettings } from '../../ports/tenancy.ts';

/** The limit of a key; null = none. */
export function keyLimitOf({ limitNanos, limitReset, includeByokInLimit }: KeySettings): Limit | null {
  if (limitNanos === null) return null;
  return { window: limitReset ?? 'lifetime', nanos: limitNanos, countsByok: includeByokInLimit };
}

/** What a key in its workspace may spend. */
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
