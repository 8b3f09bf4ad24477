import { describe, expect, it } from 'vitest';
import { daysOf, periodsOf, rankModels, sparkPoints, windowOf } from './days.ts';

describe('the window', () => {
  it('ends today and has as many days as chosen', () => {
    const now = Date.parse('2026-03-01T23:59:59Z');
    expect(windowOf(7, now)).toEqual({ start_date: '2026-02-23', end_date: '2026-03-01' });
    expect(['7', '31', null, 'x'].map(daysOf)).toEqual([7, 30, 30, 30]);
  });
});

describe('periodsOf', () => {
  it('has every day, or the Mondays of all weeks', () => {
    const window = { start_date: '2026-02-27', end_date: '2026-03-09' };
    expect(periodsOf(window, 'day')).toHaveLength(11);
    expect(periodsOf(window, 'week')).toEqual(['2026-02-23', '2026-03-02', '2026-03-09']);
  });
});

describe('rankModels', () => {
  it('adds up periods, fills gaps with 0, and puts other last', () => {
    const row = (date: string, model: string, tokens: string) => ({
      date,
      model_permaslug: model,
      total_tokens: tokens,
    });
    expect(
      rankModels(
        [row('2026-01-02', 'b', '7'), row('2026-01-01', 'a', '3'), row('2026-01-02', 'other', '99')],
        ['2026-01-01', '2026-01-02', '2026-01-03'],
      ),
    ).toEqual([
      { model: 'b', tokens: 7, periods: [0, 7, 0] },
      { model: 'a', tokens: 3, periods: [3, 0, 0] },
      { model: 'other', tokens: 99, periods: [0, 99, 0] },
    ]);
  });
});

describe('sparkPoints', () => {
  it('puts the most on top and nothing at the bottom', () => {
    expect(sparkPoints([0, 5, 10])).toBe('0.0,19.5 50.0,10.0 100.0,0.5');
    expect(sparkPoints([0])).toBe('0.0,19.5');
  });
});
