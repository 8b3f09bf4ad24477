import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SampledText } from './sampled-text.ts';

const SLICE = 512;

function sampled(text: string, pieceLength: number): SampledText {
  const sample = new SampledText();
  for (let at = 0; at < text.length; at += pieceLength) sample.add(text.slice(at, at + pieceLength));
  return sample;
}

/** A text in which every place can be told from all others. */
function placesUpTo(length: number): string {
  return Array.from({ length: length / 8 }, (_, index) => String(index * 8).padStart(8, '0')).join('');
}

describe('a sampled text', () => {
  it('is all of a text that is short', () => {
    const text = placesUpTo(4000);
    const sample = sampled(text, 7);
    expect(sample.slices.join('')).toBe(text);
    expect(sample.length).toBe(4000);
  });

  it.each([80_000, 200_000, 2_000_000])(
    'has slices of %i characters at even distances, and not many',
    (length) => {
      const sample = sampled(placesUpTo(length), 4096);
      const full = sample.slices.filter((slice) => slice.length === SLICE);
      const starts = full.map((slice) => Number(slice.slice(0, 8)));
      const distances = new Set(starts.slice(1).map((start, index) => start - (starts[index] as number)));
      expect(distances.size).toBe(1);
      expect(starts[0]).toBe(0);
      expect(length - (starts.at(-1) as number)).toBeLessThanOrEqual(([...distances][0] as number) + SLICE);
      expect(full.length).toBeGreaterThanOrEqual(60);
      expect(full.length).toBeLessThan(128);
      expect(sample.length).toBe(length);
    },
  );

  it('does not depend on the pieces that a text comes in', () => {
    const text = placesUpTo(160_000);
    const whole = sampled(text, text.length).slices;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), (pieceLength) => {
        expect(sampled(text, pieceLength).slices).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });
});
