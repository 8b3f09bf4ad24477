import { describe, expect, it } from 'vitest';
import { type Axis, COUNT_AXIS, DURATION_AXIS, MONEY_AXIS, PERCENT_AXIS, RATE_AXIS } from './axis.ts';
import { ticksUpTo } from './ticks.ts';

describe('the texts of an axis', () => {
  const textsOf = (axis: Axis, max: number, most = 4): readonly string[] =>
    axis.texts(ticksUpTo(max, most, axis.round));

  it.each<[string, Axis, number, readonly string[]]>([
    ['money', MONEY_AXIS, 0.87, ['$0', '$0.25', '$0.50', '$0.75', '$1.00']],
    ['tenths of dollars', MONEY_AXIS, 0.7, ['$0', '$0.20', '$0.40', '$0.60', '$0.80']],
    ['dollars', MONEY_AXIS, 19, ['$0', '$5', '$10', '$15', '$20']],
    ['much money', MONEY_AXIS, 40_000, ['$0', '$10 K', '$20 K', '$30 K', '$40 K']],
    ['little money', MONEY_AXIS, 0.000_04, ['$0', '$0.00001', '$0.00002', '$0.00003', '$0.00004']],
    ['counts', COUNT_AXIS, 7_400, ['0', '2,000', '4,000', '6,000', '8,000']],
    ['few', COUNT_AXIS, 2, ['0', '1', '2']],
    ['many', COUNT_AXIS, 9_000_000, ['0', '2.5 M', '5.0 M', '7.5 M', '10.0 M']],
    ['rates', RATE_AXIS, 1, ['0', '0.25', '0.50', '0.75', '1.00']],
    ['shares', PERCENT_AXIS, 1, ['0 %', '25 %', '50 %', '75 %', '100 %']],
    ['milliseconds', DURATION_AXIS, 900, ['0', '0.25 s', '0.50 s', '0.75 s', '1.00 s']],
    ['fewer', DURATION_AXIS, 80, ['0', '20 ms', '40 ms', '60 ms', '80 ms']],
    ['seconds', DURATION_AXIS, 5_400, ['0', '2 s', '4 s', '6 s']],
    ['minutes', DURATION_AXIS, 290_000, ['0', '2 min', '4 min', '6 min']],
  ])('of %s have one number of decimals', (_, axis, max, texts) => {
    expect(textsOf(axis, max)).toEqual(texts);
  });
});
