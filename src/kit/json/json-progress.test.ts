import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonProgress } from './json-progress.ts';

/** Whether the text may be complete after each piece. */
function told(pieces: readonly string[]): boolean[] {
  const progress = new JsonProgress();
  return pieces.map((piece) => {
    progress.add(piece);
    return progress.isWhole;
  });
}

describe('JSON text in pieces', () => {
  it('is complete at its end and nowhere before, for any cut', () => {
    fc.assert(
      fc.property(
        fc.object({ maxDepth: 3, withNullPrototype: false }).map((value) => JSON.stringify(value)),
        (text) => {
          const verdicts = told([...text]);
          expect(verdicts.at(-1)).toBe(true);
          expect(verdicts.slice(0, -1)).not.toContain(true);
          expect(told([text, ' \n'])).toEqual([true, true]);
        },
      ),
    );
  });

  it.each([
    ['nothing', [''], [false]],
    ['a space', [' '], [false]],
    ['a word', ['null', ' '], [true, true]],
    ['two words', ['1', ' 2'], [true, false]],
    ['a string', ['"a', '\\', '"', '"'], [false, false, false, true]],
    ['brackets inside a string', ['{"a":"}', '"', '}'], [false, false, true]],
    ['one value after another', ['{}', '{', '}'], [true, false, false]],
    ['a bracket too many', ['{}', '}'], [true, false]],
  ] as const)('knows %s', (_, pieces, verdicts) => {
    expect(told(pieces)).toEqual(verdicts);
  });
});
