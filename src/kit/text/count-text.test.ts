import { expect, test } from 'vitest';
import { countText } from './count-text.ts';

test('a count has the noun in its number', () => {
  expect([0, 1, 2].map((count) => countText(count, 'byte'))).toEqual(['0 bytes', '1 byte', '2 bytes']);
  expect([1, 2].map((count) => countText(count, 'match', 'matches'))).toEqual(['1 match', '2 matches']);
});
