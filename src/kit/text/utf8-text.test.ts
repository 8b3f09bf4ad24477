import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endsWhole, Utf8Text, ValidUtf8, validUtf8 } from './utf8-text.ts';

/** Bytes that are likely to meet at the edges of characters. */
const bytes = fc.array(
  fc.constantFrom(
    0x0a,
    0x41,
    0x7f,
    0x80,
    0xbf,
    0xc0,
    0xc3,
    0xa9,
    0xe2,
    0x82,
    0xac,
    0xed,
    0xa0,
    0xef,
    0xbb,
    0xf0,
    0x9f,
    0x98,
    0x80,
    0xf4,
    0xff,
  ),
  { maxLength: 12 },
);

describe('text of bytes in pieces', () => {
  it('is what TextDecoder makes of them', () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 6 }), (pieces) => {
        const text = new Utf8Text();
        const decoder = new TextDecoder();
        for (const piece of pieces) {
          const chunk = Uint8Array.from(piece);
          expect(text.push(chunk)).toBe(decoder.decode(chunk, { stream: true }));
        }
        expect(text.end()).toBe(decoder.decode());
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves the mark at the beginning out, and keeps a later one', () => {
    const text = new Utf8Text();
    const marked = Uint8Array.of(0xef, 0xbb, 0xbf, 0x0a);
    expect(text.push(marked)).toBe('\n');
    expect(text.push(marked)).toBe('\ufeff\n');
  });
});

/** Bytes that are likely to meet at the edges of characters, or to make none. */
const piece = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 6 }).map((text) => Buffer.from(text)),
  fc
    .array(fc.constantFrom(0x41, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xef, 0xbb, 0xbf, 0xf0, 0x9f, 0x98, 0x80), {
      maxLength: 5,
    })
    .map((bytes) => Buffer.from(bytes)),
);

/** Valid text, cut anywhere. */
const cutText = fc
  .tuple(fc.string({ unit: 'binary', maxLength: 12 }), fc.array(fc.nat(40), { maxLength: 4 }))
  .map(([text, places]) => {
    const bytes = Buffer.from(text);
    const cuts = [0, ...places.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
    return cuts.slice(1).map((to, index) => bytes.subarray(cuts[index], to));
  });

function outcomeOf(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

describe('text that must be valid', () => {
  it('is what a fatal TextDecoder makes of the whole, in one piece or many', () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(piece, { maxLength: 6 }), cutText), (pieces) => {
        const whole = Buffer.concat(pieces);
        const expected = outcomeOf(() => new TextDecoder('utf-8', { fatal: true }).decode(whole));
        const inPieces = () => {
          const text = new ValidUtf8();
          return pieces.map((each) => text.push(each)).join('') + text.end();
        };
        expect(outcomeOf(() => validUtf8(whole))).toBe(expected);
        expect(outcomeOf(inPieces)).toBe(expected);
      }),
      { numRuns: 3000 },
    );
  });

  it('leaves the mark at the beginning out, and keeps a later one', () => {
    const mark = Buffer.of(0xef, 0xbb, 0xbf);
    const marked = new ValidUtf8();
    expect([marked.push(mark), marked.push(mark), marked.push(Buffer.from('a'))]).toEqual([
      '',
      '\ufeff',
      'a',
    ]);
    const later = new ValidUtf8();
    expect([later.push(Buffer.from('a')), later.push(mark)]).toEqual(['a', '\ufeff']);
  });
});

it('is so where the last byte is a character', () => {
  const bytes = Buffer.from('für');
  expect(endsWhole(bytes)).toBe(true);
  expect([1, 2, 3, 4].map((to) => endsWhole(bytes, to))).toEqual([true, false, false, true]);
  expect(endsWhole(Buffer.from('für ü'))).toBe(false);
  expect(endsWhole(new Uint8Array())).toBe(false);
});
