import { describe, expect, it } from 'vitest';
import type { ReasoningSettings } from '../../../ir/settings.ts';
import { budgetOf, effortNearest, effortOf } from './reasoning-effort.ts';

describe('the effort that settings ask for', () => {
  it.each<[ReasoningSettings | undefined, string | undefined]>([
    [undefined, undefined],
    [{}, undefined],
    [{ effort: 'low', enabled: false }, 'low'],
    [{ enabled: false }, 'none'],
    [{ enabled: true }, 'medium'],
    [{ enabled: true, budgetTokens: 5000 }, undefined],
    [{ exclude: true }, undefined],
  ])('%j', (settings, effort) => {
    expect(effortOf(settings)).toBe(effort);
  });
});

describe('the budget of an effort', () => {
  it.each([
    ['high', 10_000, 8000],
    ['medium', 10_000, 5000],
    ['minimal', 10_000, 1024],
    ['max', 1_000_000, 128_000],
  ] as const)('%s of %d tokens', (effort, limit, budget) => {
    expect(budgetOf(effort, limit)).toBe(budget);
  });
});

describe('the effort nearest to a budget', () => {
  it.each([
    [1024, 100_000, 'minimal'],
    [2000, 10_000, 'low'],
    [5000, 10_000, 'medium'],
    [9000, 10_000, 'high'],
  ])('%d of %d tokens', (budget, limit, effort) => {
    expect(effortNearest(budget, limit)).toBe(effort);
  });

  it('is the effort whose budget it is', () => {
    for (const effort of ['low', 'medium', 'high'] as const) {
      expect(effortNearest(budgetOf(effort, 50_000), 50_000)).toBe(effort);
    }
  });
});
