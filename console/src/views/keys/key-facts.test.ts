import { describe, expect, it } from 'vitest';
import { isNearlyUsedUp, shareOfLimit, spentOfLimit, stateOf } from './key-facts.ts';

const NOW = Date.parse('2026-11-17T12:00:00Z');

const key = {
  disabled: false,
  expires_at: null,
  limit: 10,
  limit_reset: 'weekly' as const,
  include_byok_in_limit: false,
  usage: 100,
  usage_daily: 1,
  usage_weekly: 5,
  usage_monthly: 50,
  byok_usage: 0,
  byok_usage_daily: 0,
  byok_usage_weekly: 4.5,
  byok_usage_monthly: 0,
};

describe('the limit of a key', () => {
  it('counts the window that it resets after', () => {
    expect(spentOfLimit(key)).toBe(5);
    expect(spentOfLimit({ ...key, limit_reset: null })).toBe(100);
    expect(shareOfLimit(key)).toBe(0.5);
    expect(shareOfLimit({ ...key, limit: null })).toBeNull();
  });

  it('counts own credentials where the key says so', () => {
    const counting = { ...key, include_byok_in_limit: true };
    expect(spentOfLimit(counting)).toBe(9.5);
    expect(isNearlyUsedUp(counting)).toBe(true);
    expect(isNearlyUsedUp(key)).toBe(false);
  });
});

describe('stateOf', () => {
  it.each([
    ['active', {}],
    ['used-up', { usage_weekly: 10 }],
    ['used-up', { limit: 0 }],
    ['active', { limit: null, usage_weekly: 10 }],
    ['expired', { expires_at: '2026-11-17T12:00:00.000Z', usage_weekly: 10 }],
    ['active', { expires_at: '2026-11-17T12:00:01.000Z' }],
    ['disabled', { disabled: true, expires_at: '2026-01-01T00:00:00.000Z' }],
  ])('is %s with %j', (state, more) => expect(stateOf({ ...key, ...more }, NOW)).toBe(state));
});
