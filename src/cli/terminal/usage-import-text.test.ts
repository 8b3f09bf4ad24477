import { expect, it } from 'vitest';
import { badLinesText, importNotes, importText } from './usage-import-text.ts';

const TAKEN = { imported: 1, known: 0, too_old: 0 };

it('notes nothing where there is nothing to note', () => {
  expect(importNotes(TAKEN, new Map())).toEqual([]);
  expect(importText({ ...TAKEN, lines: 1, bad: 0, problems: [], notes: [] })).toBe(
    'LINES  IMPORTED  KNOWN  TOO OLD  BAD\n1      1         0      0        0\n',
  );
});

it('notes what was not counted and not kept', () => {
  const notes = importNotes({ ...TAKEN, too_old: 1 }, new Map([['session_id', 2]]));
  expect(notes).toEqual([
    expect.stringMatching(/^Usage from before the last pruning .*\.$/),
    'session_id is not kept as it was written (2 lines): usage is not counted by session.',
  ]);
  const text = importText({ ...TAKEN, lines: 1, bad: 0, problems: [], notes });
  expect(text.split('\n').slice(2, -1)).toEqual(['', ...notes]);
});

it('lists bad lines, and the number of those not listed', () => {
  const problems = [
    { line: 3, path: '', message: 'is not valid UTF-8' },
    { line: 17, path: 'tokens_prompt', message: 'must be >= 0' },
  ];
  const text = 'line 3: is not valid UTF-8\nline 17: tokens_prompt: must be >= 0\n';
  expect(badLinesText({ bad: 2, problems })).toBe(text);
  expect(badLinesText({ bad: 3, problems })).toBe(`${text}and 1 more bad line\n`);
  expect(badLinesText({ bad: 9, problems })).toBe(`${text}and 7 more bad lines\n`);
});
