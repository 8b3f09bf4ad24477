import { expect, it } from 'vitest';
import { ReadContents } from './read-contents.ts';

it('says which contents all readers have taken', () => {
  const contents = new ReadContents();
  expect(contents.taken('one', ['one'], ['a', 'b'])).toEqual(['a', 'b']);
  expect(contents.taken('one', ['one', 'two'], ['c', 'd'])).toEqual([]);
  expect(contents.taken('one', ['one', 'two'], ['c'])).toEqual([]);
  expect(contents.taken('two', ['one', 'two'], ['c'])).toEqual(['c']);
  expect(contents.taken('two', ['two'], ['d'])).toEqual(['d']);
});
