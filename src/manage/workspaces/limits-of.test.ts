import { describe, expect, it } from 'vitest';
import { keyOf } from '../../../test/builders/tenancy.ts';
import type { Budget } from '../../ports/tenancy.ts';
import { limitsOf } from './limits-of.ts';

const budget = (window: Budget['window'], limitNanos: bigint): Budget => ({
  id: 'b',
  workspaceId: 'w',
  window,
  limitNanos,
  createdAtMs: 1,
  updatedAtMs: 1,
});

describe('limitsOf', () => {
  it('limits nothing where nothing was said', () => {
    expect(limitsOf(keyOf(), { includeByokInBudgets: true }, [])).toEqual({ key: [], workspace: [] });
  });

  it('takes the limit of the key over its window, or over everything', () => {
    const limited = keyOf({ limitNanos: 0n, includeByokInLimit: true });
    expect(limitsOf(limited, { includeByokInBudgets: false }, []).key).toEqual([
      { window: 'lifetime', nanos: 0n, countsByok: true },
    ]);
    const daily = keyOf({ limitNanos: 7n, limitReset: 'daily' });
    expect(limitsOf(daily, { includeByokInBudgets: true }, []).key).toEqual([
      { window: 'daily', nanos: 7n, countsByok: false },
    ]);
  });

  it('takes every budget of the workspace', () => {
    const budgets = [budget('daily', 1n), budget('lifetime', 9n)];
    expect(limitsOf(keyOf(), { includeByokInBudgets: true }, budgets).workspace).toEqual([
      { window: 'daily', nanos: 1n, countsByok: true },
      { window: 'lifetime', nanos: 9n, countsByok: true },
    ]);
  });
});
