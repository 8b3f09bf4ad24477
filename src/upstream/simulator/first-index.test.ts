import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstIndex } from './first-index.ts';

describe('firstIndex', () => {
  it('says what the engine says', () => {
    const texts = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b'), maxLength });
    fc.assert(
      fc.property(texts(30), texts(6), (text, sought) => {
        expect(firstIndex(text, sought)).toBe(text.indexOf(sought));
      }),
      { numRuns: 2000 },
    );
  });

  it('takes no longer for texts that are made for it', () => {
    const half = '.'.repeat(8000);
    const started = performance.now();
    for (let time = 0; time < 20; time++) expect(firstIndex(half.repeat(8), `${half}x${half}`)).toBe(-1);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
