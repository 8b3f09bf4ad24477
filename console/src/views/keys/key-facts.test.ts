import { describe, expect, it } from 'vitest';
import { isNearlyUsedUp, refusingKeys, shareOfLimit, spentOfLimit, stateOf } from './key-facts.ts';

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

  it('counts own provider keys where the key says so', () => {
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

describe('the keys that refuse', () => {
  const daily = { hash: 'a', limit: 1, limit_reset: 'daily' as const, updated_at: null };
  const refused = (at: string, more = {}) => ({ key_hash: 'a', error_status: 402, created_at: at, ...more });
  const refusing = (of: object, ...rows: ReturnType<typeof refused>[]) => [
    ...refusingKeys([{ ...daily, ...of }], rows, NOW),
  ];

  it('are those whose limit refused a request in the last 15 minutes', () => {
    expect(refusing({}, refused('2026-11-17T11:50:00Z'))).toEqual(['a']);
    expect(refusing({}, refused('2026-11-17T11:40:00Z'))).toEqual([]);
    expect(refusing({}, refused('2026-11-17T11:50:00Z', { error_status: 429 }))).toEqual([]);
    expect(refusing({ limit: null }, refused('2026-11-17T11:50:00Z'))).toEqual([]);
  });

  it('are not those that were changed since, or whose limit was reset', () => {
    expect(refusing({ updated_at: '2026-11-17T11:55:00Z' }, refused('2026-11-17T11:50:00Z'))).toEqual([]);
    const justReset = Date.parse('2026-11-18T00:05:00Z');
    const row = refused('2026-11-17T23:55:00Z');
    expect([...refusingKeys([daily], [row], justReset)]).toEqual([]);
    expect([...refusingKeys([{ ...daily, limit_reset: null }], [row], justReset)]).toEqual(['a']);
  });
});
