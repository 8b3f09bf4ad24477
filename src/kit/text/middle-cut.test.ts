import { expect, it } from 'vitest';
import { middleCut } from './middle-cut.ts';

it.each([
  ['short', 10, 'short'],
  ['0123456789', 10, '0123456789'],
  ['0123456789A', 10, '0123...89A'],
  ['😀😀😀😀😀😀', 10, '😀😀...😀'],
  ['a😀😀😀😀😀b', 10, 'a😀...😀b'],
])('cuts %j to %i units', (text, most, cut) => {
  expect(middleCut(text, most)).toBe(cut);
});
