import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MarkdownLinks } from './markdown-links.ts';

/** The links of a text, with the text that their places span. */
function linksOf(text: string, cuts: readonly number[] = []) {
  const links = new MarkdownLinks();
  const ends = [...cuts, text.length].sort((a, b) => a - b);
  return ends
    .flatMap((end, index) => links.push(text.slice(ends[index - 1] ?? 0, end)))
    .map(({ address, start, end }) => [address, text.slice(start, end)]);
}

describe('MarkdownLinks', () => {
  it.each([
    ['see [a](https://a.test/).', [['https://a.test/', '[a](https://a.test/)']]],
    ['🙂 [ä](https://a.test/ "title")', [['https://a.test/', '[ä](https://a.test/ "title")']]],
    ['[a](<https://a.test/>)', [['https://a.test/', '[a](<https://a.test/>)']]],
    ['[[1]](https://a.test/)', [['https://a.test/', '[[1]](https://a.test/)']]],
    ['[a](https://a.test/x_(y))!', [['https://a.test/x_(y)', '[a](https://a.test/x_(y))']]],
    [
      '([a](u)) [b](v)[c](w)',
      [
        ['u', '[a](u)'],
        ['v', '[b](v)'],
        ['w', '[c](w)'],
      ],
    ],
    ['[![pic](p)](u)', [['u', '[![pic](p)](u)']]],
    ['![pic](p) \\[a](u) [a] (u) [a](u\n) [a]()', []],
    ['[a\n\nb](u)', []],
    [`[a](${'x'.repeat(5000)})`, []],
    ['](u)', []],
  ] as const)('finds those of %j', (text, links) => {
    expect(linksOf(text)).toEqual(links);
  });

  it('finds the same wherever the text is cut', () => {
    const piece = fc.constantFrom('[', ']', '(', ')', '!', '\\', '\n', 'a', '🙂', '[a](u)', '<', ' ');
    const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(80), { maxLength: 6 }), (whole, cuts) => {
        const inside = cuts.filter((cut) => cut <= whole.length);
        expect(linksOf(whole, inside)).toEqual(linksOf(whole));
      }),
    );
  });

  it('takes brackets without end', () => {
    const links = new MarkdownLinks();
    for (let time = 0; time < 100; time++) links.push('['.repeat(10_000));
    expect(links.push('](u)')).toHaveLength(1);
  });
});
