import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../kit/loop/turns.ts';
import { NormalStream, normalForm } from './normal-form.ts';

const UNITS = [
  'a',
  'e',
  'E',
  ' ',
  '1',
  '=',
  '\u0301',
  '\u0302',
  '\u0323',
  '\u0338',
  '\u200b',
  '\u00ad',
  '\u034f',
  'é',
  'ê',
  'ﬁ',
  'ｉ',
  '①',
  '㎏',
  'か',
  '\u3099',
  'ｶ',
  '\uff9e',
  '가',
  '\u1100',
  '\u1161',
  '\u11a8',
  'ㄱ',
  '😀',
  '\u{e0041}',
  'Å',
  'ſ',
  'क',
  '\u093c',
  '\u0344',
  '\u2126',
  '\ufb1d',
  '\u1e9b',
  '\ud800',
  '\udc00',
  '𝐢',
  '\u{1d15e}',
  'ा',
  'ো',
  '\u09c7',
  '\u09be',
  'ﷺ',
  '㌀',
  '½',
  '٤',
];
const texts = fc.string({ unit: fc.constantFrom(...UNITS), maxLength: 16 });

const plainForm = (text: string) => {
  const whole = text.replace(/\p{Surrogate}/gu, '\ufffd');
  const visible = whole.replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return visible.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
};

describe('normalForm', () => {
  it('is NFKC without invisible characters and halves of pairs', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(runAtOnce(normalForm(text)).text).toBe(plainForm(text));
      }),
      { numRuns: 1500 },
    );
  });

  it.each([
    ['ig\u200bnore', 'ignore', 0, 6, 0, 7],
    ['x ｉｇ', 'x ig', 2, 4, 2, 4],
    ['aﬁb', 'afib', 2, 3, 1, 2],
    ['e\u0301\u200b!', 'é!', 0, 1, 0, 2],
    ['\u200be\u200b\u0301\u200b!', 'é!', 0, 1, 1, 4],
    ['😀\u200b😀', '😀😀', 2, 4, 3, 5],
  ])('%j reads as %j, and its places are found', (text, form, start, end, originalStart, originalEnd) => {
    const normal = runAtOnce(normalForm(text));
    expect(normal.text).toBe(form);
    expect([normal.startOf(start), normal.endBefore(end)]).toEqual([originalStart, originalEnd]);
  });
});

describe('the short normal form', () => {
  it.each([
    ['xﷺy', 'xمy', 2, 2],
    ['㌀1', 'ト1', 1, 1],
    ['㌕:', 'ム:', 1, 1],
    ['ﷺ\u200b٤', 'م٤', 2, 3],
    ['½½', '1⁄21⁄2', 3, 1],
    ['⑽', '(10)', 4, 1],
    ['\u01c4', 'DŽ', 2, 1],
  ])('of %j is %j, and its places are found', (text, form, index, original) => {
    const normal = runAtOnce(normalForm(text, true));
    expect(normal.text).toBe(form);
    expect(normal.endBefore(index)).toBe(original);
  });

  it('is the whole one besides characters that built-in filters do not read', () => {
    const unread = (text: string) => text.replace(/[^\0-\u024f\u2010-\u2015\u2212\p{Nd}]+/gu, '?');
    fc.assert(
      fc.property(texts, (text) => {
        const [short, whole] = [true, false].map((isShort) => runAtOnce(normalForm(text, isShort)).text);
        // A long form may have blanks, which stand between letters of it.
        const expected = unread((whole ?? '').replaceAll('صلى الله عليه وسلم', 'م'));
        expect(unread(short ?? '')).toBe(expected);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('NormalStream', () => {
  it('gives the same form and places, however the text is cut', () => {
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 5 }), (pieces) => {
        const whole = runAtOnce(normalForm(pieces.join('')));
        const stream = new NormalStream();
        for (const piece of pieces) stream.push(piece);
        stream.finish();
        expect(stream.text).toBe(whole.text);
        for (let index = 0; index < whole.text.length; index++) {
          expect(stream.startOf(index)).toBe(whole.startOf(index));
          expect(stream.endBefore(index + 1)).toBe(whole.endBefore(index + 1));
        }
      }),
      { numRuns: 800 },
    );
  });

  it('names all characters that its open end may turn out to be', () => {
    fc.assert(
      fc.property(texts, texts, (text, more) => {
        const stream = new NormalStream();
        stream.push(text);
        const { end, open, text: known } = stream;
        stream.push(more);
        stream.finish();
        expect(stream.text.startsWith(known)).toBe(true);
        if (open?.candidates !== undefined) expect(open.candidates).toContain(stream.text.codePointAt(end));
      }),
      { numRuns: 1500 },
    );
  });
});
