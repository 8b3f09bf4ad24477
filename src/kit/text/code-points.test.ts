import { expect, it } from 'vitest';
import { codePointText } from './code-points.ts';

it.each(['plain', 'ä\u{1f600}b\u{1f600}\u{1f600}c', '\u{1f600}', '', 'a\ud83db'])(
  'finds code points of %j',
  (text) => {
    const { unitAt } = codePointText(text);
    const characters = [...text];
    for (let index = 0; index <= characters.length; index++) {
      expect(unitAt(index)).toBe(characters.slice(0, index).join('').length);
    }
    expect(unitAt(-1)).toBe(0);
    expect(unitAt(99)).toBe(text.length);
  },
);
