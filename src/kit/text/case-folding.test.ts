import { expect, it } from 'vitest';
import { caseFolding } from './case-folding.ts';

it('takes those letters for equal that the engine takes for equal', () => {
  const { codes, equals } = caseFolding();
  const cased = new Set(codes);
  for (let code = 0; code <= 0x1ffff; code++) {
    const character = String.fromCodePoint(code);
    if (character.toLowerCase() !== character || character.toUpperCase() !== character) cased.add(code);
  }
  const all = String.fromCodePoint(...[...cased].sort((left, right) => left - right));
  for (const code of cased) {
    const equal = all.match(new RegExp(`\\u{${code.toString(16)}}`, 'giu')) ?? [];
    const expected = equal.map((character) => character.codePointAt(0));
    if (expected.join() !== Array.from(equals.get(code) ?? [code]).join()) expect.fail(code.toString(16));
  }
});
