import { expect, it } from 'vitest';
import { countAxis, durationAxis, moneyAxis, percentAxis, rateAxis } from './axis-format.ts';

it('writes numbers at grid lines shortly', () => {
  expect([0, 0.05, 22.5, 1_000, 25_000, 0.000025].map(moneyAxis)).toEqual([
    '$0',
    '$0.05',
    '$22.5',
    '$1000',
    '$25 K',
    '$0.000025',
  ]);
  expect([0, 0.25, 7_500, 2_500_000, 1e9].map(countAxis)).toEqual(['0', '', '7500', '2.5 M', '1 B']);
  expect([0, 12.5].map(rateAxis)).toEqual(['0', '12.5']);
  expect([0, 250, 2_500, 20_000].map(durationAxis)).toEqual(['0', '250 ms', '2.5 s', '20 s']);
  expect([0, 0.25, 1].map(percentAxis)).toEqual(['0 %', '25 %', '100 %']);
});
