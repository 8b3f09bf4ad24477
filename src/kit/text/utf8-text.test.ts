import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Utf8Text } from './utf8-text.ts';

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
