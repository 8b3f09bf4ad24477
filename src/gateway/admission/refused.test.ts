import { expect, it } from 'vitest';
import { dollars } from './refused.ts';

it.each([
  [500_000_000_000n, '500.00'],
  [1_250_000_000n, '1.25'],
  [1_234_500_000n, '1.2345'],
  [1_000n, '0.000001'],
  [10n, '0.00000001'],
  [0n, '0.00'],
])('writes %d nano-dollars as %s', (nanos, text) => {
  expect(dollars(nanos)).toBe(text);
});
