import { describe, expect, it } from 'vitest';
import { guardrailOf } from '../../../test/kit/builders/guardrails.ts';
import { keyOf } from '../../../test/kit/builders/tenancy.ts';
import type { Limit, Spending } from '../../ports/money/ledger.ts';
import type { AppliedGuardrail, Guardrail, GuardrailScope } from '../../ports/tenancy/guardrails.ts';
import type { Budget } from '../../ports/tenancy/tenancy.ts';
import { remainingNanos } from '../spent-of-limit.ts';
import { limitsOf } from './limits.ts';

const budget = (window: Budget['window'], limitNanos: bigint): Budget => ({
  id: 'b',
  workspaceId: 'w',
  window,
  limitNanos,
  createdAtMs: 1,
  updatedAtMs: 1,
});

describe('limitsOf', () => {
  it('limits nothing by default', () => {
    expect(limitsOf(keyOf(), { includeByokInBudgets: true }, [], [])).toEqual({ key: [], workspace: [] });
  });

  it('takes the limit of the key over its window, or over everything', () => {
    const limited = keyOf({ limitNanos: 0n, includeByokInLimit: true });
    expect(limitsOf(limited, { includeByokInBudgets: false }, [], []).key).toEqual([
      { window: 'lifetime', nanos: 0n, countsByok: true },
    ]);
    const daily = keyOf({ limitNanos: 7n, limitReset: 'daily' });
    expect(limitsOf(daily, { includeByokInBudgets: true }, [], []).key).toEqual([
      { window: 'daily', nanos: 7n, countsByok: false },
    ]);
  });

  it('takes every budget of the workspace', () => {
    const budgets = [budget('daily', 1n), budget('lifetime', 9n)];
    expect(limitsOf(keyOf(), { includeByokInBudgets: true }, budgets, []).workspace).toEqual([
      { window: 'daily', nanos: 1n, countsByok: true },
      { window: 'lifetime', nanos: 9n, countsByok: true },
    ]);
  });
});

describe('limitsOf, with guardrails', () => {
  const applied = (scope: GuardrailScope, more: Partial<Guardrail> = {}): AppliedGuardrail => ({
    guardrail: guardrailOf({ id: `of ${scope}`, limitNanos: 5n, ...more }),
    scope,
  });
  const limits = (...guardrails: AppliedGuardrail[]) => {
    const ids = (list: readonly Limit[] = []) => list.map(({ guardrailId }) => guardrailId);
    const { key, member } = limitsOf(keyOf(), { includeByokInBudgets: false }, [], guardrails);
    return { key: ids(key), member: ids(member) };
  };

  it('limits each key and each member under a default, else what it is assigned to', () => {
    const all = [applied('account'), applied('workspace'), applied('member'), applied('api-key')];
    expect(limits(...all)).toEqual({
      key: ['of account', 'of workspace', 'of api-key'],
      member: ['of account', 'of workspace', 'of member'],
    });
    expect(limits(applied('account', { limitNanos: null }))).toEqual({ key: [], member: [] });
  });

  it('keeps the limit of the key, and counts over the interval of the guardrail', () => {
    const guardrail = applied('api-key', { resetInterval: 'weekly', includeByokInBudgets: true });
    const key = keyOf({ limitNanos: 7n });
    expect(limitsOf(key, { includeByokInBudgets: false }, [], [guardrail])).toEqual({
      key: [
        { window: 'lifetime', nanos: 7n, countsByok: false },
        { window: 'weekly', nanos: 5n, countsByok: true, guardrailId: 'of api-key' },
      ],
      workspace: [],
    });
  });
});

const sums = (nanos: bigint) => ({ lifetime: 2n * nanos, daily: nanos, weekly: nanos, monthly: nanos });
const spending: Spending = {
  windows: { daily: 1, weekly: 1, monthly: 1 },
  credit: sums(3n),
  byok: sums(4n),
};

describe('what remains of a limit', () => {
  it.each([
    ['daily', 10n, false, 7n],
    ['daily', 10n, true, 3n],
    ['daily', 5n, true, 0n],
    ['lifetime', 10n, false, 4n],
  ] as const)('%s of %d, BYOK counted: %s', (window, nanos, countsByok, remaining) => {
    const limit: Limit = { window, nanos, countsByok };
    expect(remainingNanos(limit, spending)).toBe(remaining);
  });
});
