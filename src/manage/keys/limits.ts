import type { Limit, Limits } from '../../ports/money/ledger.ts';
import type { AppliedGuardrail, GuardrailScope } from '../../ports/tenancy/guardrails.ts';
import type { Budget, KeySettings, WorkspaceSettings } from '../../ports/tenancy/tenancy.ts';

/** The limit of a key; null = none. */
export function keyLimitOf({ limitNanos, limitReset, includeByokInLimit }: KeySettings): Limit | null {
  if (limitNanos === null) return null;
  return { window: limitReset ?? 'lifetime', nanos: limitNanos, countsByok: includeByokInLimit };
}

export function limitsOf(
  key: KeySettings,
  { includeByokInBudgets }: Pick<WorkspaceSettings, 'includeByokInBudgets'>,
  budgets: readonly Budget[],
  guardrails: readonly AppliedGuardrail[],
): Limits {
  const limit = keyLimitOf(key);
  const member = guardrailLimits(guardrails, 'member');
  return {
    key: [...(limit === null ? [] : [limit]), ...guardrailLimits(guardrails, 'key')],
    ...(member.length > 0 && { member }),
    workspace: budgets.map(({ window, limitNanos }) => ({
      window,
      nanos: limitNanos,
      countsByok: includeByokInBudgets,
    })),
  };
}

/**
 * Whom the budget of a guardrail limits, by what the guardrail is assigned to. Of the default of an account or a
 * workspace each key and each member has a budget of its own.
 */
const LIMITED: Readonly<Record<GuardrailScope, readonly ('key' | 'member')[]>> = {
  account: ['key', 'member'],
  workspace: ['key', 'member'],
  member: ['member'],
  'api-key': ['key'],
};

function guardrailLimits(guardrails: readonly AppliedGuardrail[], limited: 'key' | 'member'): Limit[] {
  return guardrails.flatMap(({ guardrail, scope }) => {
    const { id, limitNanos, resetInterval, includeByokInBudgets } = guardrail;
    if (limitNanos === null || !LIMITED[scope].includes(limited)) return [];
    return [
      {
        window: resetInterval ?? 'lifetime',
        nanos: limitNanos,
        countsByok: includeByokInBudgets,
        guardrailId: id,
      },
    ];
  });
}
