import { expect, it } from 'vitest';
import { usdText } from './output.ts';

it.each<[number, string]>([
  [0, '0.00'],
  [12.5, '12.50'],
  [1e-9, '0.000000001'],
  [0.123, '0.123'],
  [1_000_000_000, '1000000000.00'],
  [-0.5, '-0.50'],
])('writes %f USD as %s', (usd, text) => {
  expect(usdText(usd)).toBe(text);
});
