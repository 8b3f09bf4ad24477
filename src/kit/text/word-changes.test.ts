import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type TextChange, wordChanges } from './word-changes.ts';

const applied = (before: string, changes: readonly TextChange[]) =>
  changes.reduceRight(
    (text, { start, end, text: given }) => text.slice(0, start) + given + text.slice(end),
    before,
  );

it('finds the words that were replaced', () => {
  const before = 'Ask Ada Lovelace, or Bob of ORD-12.';
  expect(wordChanges(before, 'Ask [A NAME], or [NAME] of [ORDER].')).toEqual([
    { start: 4, end: 16, text: '[A NAME]' },
    { start: 21, end: 24, text: '[NAME]' },
    { start: 28, end: 34, text: '[ORDER]' },
  ]);
  expect(wordChanges('same', 'same')).toEqual([]);
  expect(wordChanges('', 'new')).toEqual([{ start: 0, end: 0, text: 'new' }]);
  expect(wordChanges('a b c', 'a c')).toEqual([{ start: 2, end: 4, text: '' }]);
});

it('is one change if everything differs', () => {
  const words = (word: string) =>
    Array.from({ length: 5000 }, (_, index) => `${word}${index}${word}`).join(',');
  expect(wordChanges(`a ${words('b')} z`, `a ${words('c')} z`)).toEqual([
    { start: 2, end: 2 + words('b').length, text: words('c') },
  ]);
});

const text = fc
  .array(fc.constantFrom('a', 'b', 'cd', ' ', '\n', '.', '[', '🎉'))
  .map((words) => words.join(''));

it('changes one text into the other', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const changes = wordChanges(before, after);
      expect(applied(before, changes)).toBe(after);
      let last = -1;
      for (const { start, end } of changes) {
        expect(start).toBeGreaterThan(last);
        last = end;
      }
    }),
  );
});
