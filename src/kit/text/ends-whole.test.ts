import { expect, it } from 'vitest';
import { endsWhole } from './ends-whole.ts';

it('is so where the last byte is a character', () => {
  const bytes = Buffer.from('für');
  expect(endsWhole(bytes)).toBe(true);
  expect([1, 2, 3, 4].map((to) => endsWhole(bytes, to))).toEqual([true, false, false, true]);
  expect(endsWhole(Buffer.from('für ü'))).toBe(false);
  expect(endsWhole(new Uint8Array())).toBe(false);
});
