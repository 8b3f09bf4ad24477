import { describe, expect, it } from 'vitest';
import type { KeyObject } from '../../api/contract.ts';
import {
  changeableValues,
  createBody,
  earlierBudget,
  keyProblems,
  newKeyValues,
  parseCount,
  updateBody,
} from './key-form.ts';

const NOW = Date.parse('2026-11-17T12:00:00Z');

const KEY = {
  name: 'checkout',
  limit: 10,
  limit_reset: 'monthly',
  include_byok_in_limit: false,
  expires_at: null,
  allowed_models: null,
  requests_per_minute: null,
  tokens_per_minute: null,
} as KeyObject;

const values = { ...newKeyValues('w'), name: ' checkout ', limit: '5,000.00' };

describe('keyProblems', () => {
  it('finds nothing wrong with a name alone', () => {
    expect(keyProblems({ ...newKeyValues('w'), name: 'n' }, NOW)).toEqual({});
  });

  it('names the field of each problem', () => {
    const wrong = { ...values, name: ' ', limit: 'ten', expires_at: '2020-01-01T09:00' };
    expect(Object.keys(keyProblems(wrong, NOW))).toEqual(['name', 'limit', 'expires_at']);
    expect(keyProblems({ ...values, expires_at: 'later' }, NOW)).toHaveProperty('expires_at');
    const rates = { ...values, requests_per_minute: '-1', tokens_per_minute: '1.5' };
    expect(Object.keys(keyProblems(rates, NOW))).toEqual(['requests_per_minute', 'tokens_per_minute']);
  });

  it('lets a key that has expired keep its moment, and gives it no other that is over', () => {
    const key = { expires_at: '2020-01-01T09:00:30.000Z' } as KeyObject;
    const kept = { ...values, expires_at: changeableValues({ ...KEY, ...key }).expires_at };
    expect(keyProblems(kept, NOW, key)).toEqual({});
    expect(keyProblems({ ...kept, expires_at: '2020-01-02T09:00' }, NOW, key)).toHaveProperty('expires_at');
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
    expect(updateBody(values, KEY)).toEqual({ limit: 5000 });
    expect(updateBody({ ...values, limit: '10' }, KEY)).toEqual({});
  });

  it('has models, rates and an expiry, and takes them away again', () => {
    const limits = { allowed_models: ['a/b'], requests_per_minute: '60', tokens_per_minute: '40,000' };
    const expires = new Date(2030, 0, 31, 12, 0).toISOString();
    const wanted = { allowed_models: ['a/b'], requests_per_minute: 60, tokens_per_minute: 40_000 };
    expect(createBody({ ...values, ...limits })).toMatchObject(wanted);
    const typed = { ...values, limit: '10', ...limits, expires_at: '2030-01-31T12:00' };
    expect(updateBody(typed, KEY)).toEqual({ ...wanted, expires_at: expires });
    const key: KeyObject = { ...KEY, ...wanted, expires_at: '2030-01-31T12:00:30.000Z' };
    const shown = changeableValues(key);
    expect(shown).toMatchObject(limits);
    expect(updateBody(shown, key)).toEqual({});
    const cleared = { ...shown, allowed_models: [], requests_per_minute: '0', tokens_per_minute: ' ' };
    expect(updateBody({ ...cleared, expires_at: '' }, key)).toEqual({
      allowed_models: null,
      requests_per_minute: null,
      tokens_per_minute: null,
      expires_at: null,
    });
  });
});

it.each([
  ['', null],
  ['0', null],
  ['60', 60],
  ['40,000', 40_000],
  ['4,00', undefined],
  ['many', undefined],
])('reads %j as a count', (text, value) => expect(parseCount(text)).toBe(value));

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
