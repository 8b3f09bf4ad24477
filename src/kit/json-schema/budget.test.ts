import { describe, expect, it } from 'vitest';
import { StepBudget } from './budget.ts';

describe('Budget', () => {
  it('says whether a pattern matches, and pays for it', () => {
    const budget = new StepBudget(1000);
    expect(budget.matches('^x_', 'x_one')).toBe(true);
    expect(budget.matches('^x_', 'ax_')).toBe(false);
    expect(budget.steps).toBeLessThan(1000);
  });

  it('does not say what is beyond it', () => {
    expect(new StepBudget(1000).matches('(?=a)', 'a')).toBeUndefined();
    expect(new StepBudget(1000).matches('(', 'a')).toBeUndefined();
    expect(new StepBudget(100).matches('^(a*)*$', `${'a'.repeat(200)}b`)).toBeUndefined();
    expect(new StepBudget(10).matches('long pattern', 'a')).toBeUndefined();
  });

  it('keeps its steps when a text would take too many', () => {
    const budget = new StepBudget(100);
    budget.compile('^(a*)*$');
    const before = budget.steps;
    expect(budget.matches('^(a*)*$', 'a'.repeat(10_000))).toBeUndefined();
    expect(budget.steps).toBe(before);
  });

  it('compiles a pattern once, however often it is asked', () => {
    const budget = new StepBudget(10_000);
    for (let time = 0; time < 100; time++) expect(budget.matches('x'.repeat(1000), '')).toBe(false);
    expect(budget.steps).toBeGreaterThan(0);
  });
});
