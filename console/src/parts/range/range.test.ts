import { describe, expect, it } from 'vitest';
import { momentOf, momentsOf, PRESETS, periodBefore, presetOf, rangeOf } from './range.ts';

const NOW = new Date(2026, 10, 3, 15, 0, 0).getTime();
const at = (...parts: [number, number, number, number?, number?]) => new Date(...parts).getTime();

describe('moments in words', () => {
  it.each([
    ['now', NOW],
    ['-90m', NOW - 90 * 60_000],
    ['-24h', NOW - 86_400_000],
    ['- 7 d', NOW - 7 * 86_400_000],
    ['today', at(2026, 10, 3)],
    ['yesterday 9:00', at(2026, 10, 2, 9)],
    ['this month', at(2026, 10, 1)],
    ['last month', at(2026, 9, 1)],
    ['2 Nov, 15:00', at(2026, 10, 2, 15)],
    ['2 November 2025', at(2025, 10, 2)],
    ['24 Dec', at(2025, 11, 24)],
    ['2026-11-02 08:30', at(2026, 10, 2, 8, 30)],
    ['2026-11-02T08:30:00Z', Date.UTC(2026, 10, 2, 8, 30)],
  ])('reads %s', (words, expected) => {
    expect(momentOf(words, NOW)).toBe(expected);
  });

  it.each(['', 'soon', '31 Feb', '-5x', 'today 25:00', '5', '2026'])('refuses %o', (words) => {
    expect(momentOf(words, NOW)).toBeNull();
  });
});

describe('ranges', () => {
  it('refuses one that ends before it begins', () => {
    expect(momentsOf({ from: 'now', to: '-1h' }, NOW)).toBeNull();
  });

  it('reads every preset, and knows it by its words', () => {
    for (const preset of PRESETS) {
      expect(momentsOf(preset, NOW)).not.toBeNull();
      expect(presetOf({ from: preset.from, to: preset.to })).toBe(preset);
    }
  });

  it('falls back if the address names none, or one that cannot be read', () => {
    expect(rangeOf(new URLSearchParams('from=-1h'))).toEqual({ from: '-1h', to: 'now' });
    expect(rangeOf(new URLSearchParams('from=nonsense'))).toEqual({ from: '-24h', to: 'now' });
    expect(rangeOf(new URLSearchParams(''))).toEqual({ from: '-24h', to: 'now' });
  });

  it('has a period before of the same length', () => {
    expect(periodBefore({ fromMs: 100, toMs: 130 })).toEqual({ fromMs: 70, toMs: 100 });
  });
});
