import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SentThoughts, type ThoughtSource } from './decode-content.ts';

type Piece = readonly [text: string, source: ThoughtSource];

function told(...pieces: readonly Piece[]): string {
  const thoughts = new SentThoughts();
  return pieces.map(([text, source]) => thoughts.newsIn(text, source)).join('');
}

describe('thoughts that come twice', () => {
  it.each<readonly [name: string, pieces: readonly Piece[]]>([
    [
      'the plain text first',
      [
        ['Two ', 'plain'],
        ['and two', 'plain'],
        ['Two and two', 'details'],
      ],
    ],
    [
      'the details first',
      [
        ['Two and two', 'details'],
        ['Two', 'plain'],
        [' and two', 'plain'],
      ],
    ],
    [
      'in turn',
      [
        ['Two ', 'plain'],
        ['Two ', 'details'],
        ['and two', 'details'],
        ['and two', 'plain'],
      ],
    ],
    [
      'each ahead for a while',
      [
        ['Two', 'plain'],
        ['Two and', 'details'],
        [' and two', 'plain'],
        [' two', 'details'],
      ],
    ],
  ])('are reported once: %s', (_name, pieces) => {
    expect(told(...pieces)).toBe('Two and two');
  });

  it('are emitted once, in whatever pieces they come', () => {
    const cuts = fc.array(fc.string({ minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(cuts, (pieces) => {
        const whole = pieces.join('');
        const plain = pieces.map((text): Piece => [text, 'plain']);
        expect(told(...plain, [whole, 'details'])).toBe(whole);
        expect(told([whole, 'details'], ...plain)).toBe(whole);
      }),
    );
  });

  it('are both emitted if they differ', () => {
    expect(told(['One', 'plain'], ['Two', 'details'], ['Three', 'plain'])).toBe('OneTwoThree');
  });
});
