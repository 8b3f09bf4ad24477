import { expect, it } from 'vitest';
import { unrecordedGenerations } from './examine-journal.ts';

const newest = ['d', 'c', 'b', 'a'].map((id, index) => ({ id, settledAtMs: 9 - index, creditNanos: 1n }));

it.each([
  [['a', 'b', 'c', 'd'], []],
  [
    ['a', 'b'],
    ['d', 'c'],
  ],
  // What is missing before one that is known was pruned from the memory of the books, or was told of before.
  [['c'], ['d']],
  [[], ['d', 'c', 'b', 'a']],
])('of books that know %j', (known, expected) => {
  expect(unrecordedGenerations(newest, new Set(known)).map(({ id }) => id)).toEqual(expected);
});

it('of no rows are none', () => {
  expect(unrecordedGenerations([], new Set(['a']))).toEqual([]);
});
