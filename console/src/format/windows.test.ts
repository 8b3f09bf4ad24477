import { describe, expect, it } from 'vitest';
import { nextReset, windowStart } from './windows.ts';

describe('nextReset', () => {
  it.each([
    // A Tuesday, a Sunday and a Monday.
    ['daily', '2026-11-17T23:59:59Z', '2026-11-18T00:00:00.000Z'],
    ['weekly', '2026-11-17T12:00:00Z', '2026-11-23T00:00:00.000Z'],
    ['weekly', '2026-11-22T23:59:59Z', '2026-11-23T00:00:00.000Z'],
    ['weekly', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00.000Z'],
    ['monthly', '2026-12-31T12:00:00Z', '2027-01-01T00:00:00.000Z'],
  ] as const)('of a %s window at %s is %s', (window, now, next) => {
    expect(new Date(nextReset(window, Date.parse(now)) ?? 0).toISOString()).toBe(next);
  });

  it('is never for what counts for ever', () => {
    expect(nextReset('lifetime', 0)).toBeNull();
  });
});

describe('windowStart', () => {
  it.each([
    ['daily', '2026-11-17T23:59:59Z', '2026-11-17T00:00:00.000Z'],
    ['weekly', '2026-11-22T23:59:59Z', '2026-11-16T00:00:00.000Z'],
    ['monthly', '2026-12-31T12:00:00Z', '2026-12-01T00:00:00.000Z'],
    ['lifetime', '2026-12-31T12:00:00Z', '1970-01-01T00:00:00.000Z'],
  ] as const)('of a %s window at %s is %s', (window, now, start) => {
    expect(new Date(windowStart(window, Date.parse(now))).toISOString()).toBe(start);
  });
});
