import { describe, expect, it } from 'vitest';
import { budgetCall, budgetChanges, budgetProblems, budgetValues } from './budget-form.ts';

const budgets = [
  { limit_usd: 5, reset_interval: 'daily' as const },
  { limit_usd: 20, reset_interval: 'weekly' as const },
  { limit_usd: 100, reset_interval: null },
];

const values = budgetValues(budgets, false);

describe('budgetValues', () => {
  it('has an empty text where there is no budget', () => {
    expect(values).toMatchObject({ daily: '5.00', weekly: '20.00', monthly: '', lifetime: '100.00' });
  });
});

describe('budgetProblems', () => {
  it('wants more for longer windows', () => {
    expect(budgetProblems(values)).toEqual({});
    expect(budgetProblems({ ...values, monthly: '20' })).toEqual({
      monthly: 'Must be more than the budget of a week.',
    });
    expect(Object.keys(budgetProblems({ ...values, daily: '0', weekly: 'x' }))).toEqual(['daily', 'weekly']);
  });
});

describe('budgetChanges', () => {
  it('is nothing where nothing was changed', () => {
    expect(budgetChanges(budgets, values)).toEqual([]);
  });

  it.each([
    // All raised: the longest first.
    [{ daily: '30', weekly: '200', lifetime: '900' }, ['lifetime', 'weekly', 'daily']],
    // All lowered: the shortest first.
    [{ daily: '1', weekly: '4', lifetime: '10' }, ['daily', 'weekly', 'lifetime']],
    // What is removed makes room, what is new comes last.
    [{ daily: '', weekly: '2', monthly: '50' }, ['daily', 'weekly', 'monthly']],
  ])('orders %j so that each step holds', (change, order) => {
    expect(budgetChanges(budgets, { ...values, ...change }).map(({ window }) => window)).toEqual(order);
  });
});

describe('budgetCall', () => {
  it('removes with DELETE and sets with PUT', () => {
    expect(budgetCall('w', { window: 'daily', usd: null }, true)).toEqual({
      method: 'DELETE',
      path: '/workspaces/w/budgets/daily',
    });
    expect(budgetCall('w', { window: 'daily', usd: 5 }, true).body).toEqual({
      limit_usd: 5,
      include_byok_in_budgets: true,
    });
    expect(budgetCall('w', { window: 'daily', usd: 5 }, undefined).body).toEqual({ limit_usd: 5 });
  });
});
