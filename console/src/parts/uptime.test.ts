import { describe, expect, it } from 'vitest';
import { answeredText, dayTone, together } from './uptime.tsx';

describe('dayTone', () => {
  it('is pale above 99 per cent, amber above 90, red otherwise, grey without calls', () => {
    expect([dayTone(1_000, 9), dayTone(1_000, 10), dayTone(1_000, 100), dayTone(0, 0)]).toEqual([
      'o',
      'p',
      'q',
      'z',
    ]);
  });
});

describe('together', () => {
  it('adds calls, and is unknown without any', () => {
    const one = { calls: 1_000, failures: 1, percent: 99.9 };
    const none = { calls: 0, failures: 0, percent: null };
    expect(together([one, none, one])).toEqual({ calls: 2_000, failures: 2, percent: 99.9 });
    expect(together([none])).toEqual(none);
    expect(together([])).toEqual(none);
  });
});

describe('answeredText', () => {
  it.each([
    [9, 2, '7 of 9'],
    [99, 0, '99 of 99'],
    [100, 0, '100 %'],
    [10_000, 1, '99.9 %'],
  ])('%i calls, %i failed', (calls, failures, text) => {
    expect(answeredText(calls, failures)).toBe(text);
  });
});
