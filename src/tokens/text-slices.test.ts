import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { charactersOf, SLICE_CHARACTERS, slicesOf } from './text-slices.ts';

describe('slicesOf', () => {
  it('holds all of texts that are short enough, in order', () => {
    const texts = fc.array(fc.tuple(fc.string(), fc.nat({ max: 9000 })), { maxLength: 12 });
    fc.assert(
      fc.property(texts, (given) => {
        const all = given.map(([text, length]) => text + 'x'.repeat(length));
        const slices = slicesOf(all, 1_000_000);
        expect(slices.flat().join('') === all.join('')).toBe(true);
        for (const slice of slices) expect(charactersOf(slice)).toBeLessThanOrEqual(SLICE_CHARACTERS + 1);
      }),
      { numRuns: 50 },
    );
  });

  it('is a sample from everywhere of texts that are longer', () => {
    const texts = ['a'.repeat(1_000_000), ...Array.from({ length: 10_000 }, () => 'b'.repeat(100))];
    const slices = slicesOf(texts, 100_000);
    const sample = slices.flat().join('');
    expect(sample.length).toBeLessThanOrEqual(100_000);
    expect(sample.length).toBeGreaterThan(80_000);
    expect(sample.replaceAll('a', '').length / sample.length).toBeCloseTo(0.5, 1);
  });

  it('is one slice at least, and none of nothing', () => {
    expect(slicesOf(['x'.repeat(100_000)], 1)).toHaveLength(1);
    expect(slicesOf(['', ''], 100)).toEqual([]);
  });
});
