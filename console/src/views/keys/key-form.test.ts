import { describe, expect, it } from 'vitest';
import type { KeyObject } from '../../api/contract.ts';
import { createBody, earlierBudget, keyProblems, newKeyValues, updateBody } from './key-form.ts';

const NOW = Date.parse('2026-11-17T12:00:00Z');

const values = { ...newKeyValues('w'), name: ' checkout ', limit: '5,000.00' };

describe('keyProblems', () => {
  it('finds nothing wrong with a name alone', () => {
    expect(keyProblems({ ...newKeyValues('w'), name: 'n' }, NOW)).toEqual({});
  });

  it('names the field of each problem', () => {
    const wrong = { ...values, name: ' ', limit: 'ten', expires_at: '2020-01-01T09:00' };
    expect(Object.keys(keyProblems(wrong, NOW))).toEqual(['name', 'limit', 'expires_at']);
    expect(keyProblems({ ...values, expires_at: 'later' }, NOW)).toHaveProperty('expires_at');
  });
});

describe('the bodies of requests', () => {
  it('has what was typed, in the form of the interface', () => {
    const expires = new Date(2030, 0, 31, 12, 0);
    expect(createBody({ ...values, expires_at: '2030-01-31T12:00' })).toEqual({
      name: 'checkout',
      limit: 5000,
      limit_reset: 'monthly',
      include_byok_in_limit: false,
      workspace_id: 'w',
      expires_at: expires.toISOString(),
    });
    expect(createBody({ ...values, limit: '' })).toMatchObject({ limit: null, limit_reset: null });
    expect(createBody({ ...values, limit_reset: 'lifetime' })).toMatchObject({ limit_reset: null });
  });

  it('changes only what differs', () => {
    const key = { name: 'checkout', limit: 10, limit_reset: 'monthly', include_byok_in_limit: false };
    expect(updateBody(values, key as KeyObject)).toEqual({ limit: 5000 });
    expect(updateBody({ ...values, limit: '10' }, key as KeyObject)).toEqual({});
  });
});

describe('earlierBudget', () => {
  const budgets = [
    { limit_usd: 300, reset_interval: 'daily' as const },
    { limit_usd: 4000, reset_interval: 'monthly' as const },
  ];

  it('names a budget of the same or a longer window that is lower', () => {
    expect(earlierBudget(values, budgets)).toBe(
      'The workspace’s budget of $4,000.00 a month would stop this key first.',
    );
    expect(earlierBudget({ limit: '400', limit_reset: 'daily' }, budgets)).toContain('$300.00 a day');
  });

  it('is silent where the limit is lower, or there is none', () => {
    expect(earlierBudget({ ...values, limit: '400' }, budgets)).toBeUndefined();
    expect(earlierBudget({ ...values, limit: '' }, budgets)).toBeUndefined();
    expect(earlierBudget({ ...values, limit_reset: 'lifetime' }, budgets)).toBeUndefined();
  });
});
