import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Sliced } from '../loop/turns.ts';
import type { Json } from './json.ts';
import { encodeSliced, stringifySliced } from './stringify-sliced.ts';

function run<T>(work: Sliced<T>): { value: T; slices: number } {
  for (let slices = 1; ; slices++) {
    const step = work.next();
    if (step.done === true) return { value: step.value, slices };
  }
}

const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 5 }),
  fc.array(fc.string({ unit: 'binary', maxLength: 60 })),
  fc.dictionary(fc.string({ maxLength: 30 }), fc.string({ maxLength: 60 })),
);

describe('writing in slices', () => {
  it.each([1, 2, 10, 50])('gives what writing at once does, in slices of %i characters', (slice) => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const { value: pieces } = run(stringifySliced(value as Json, slice));
        expect(pieces.join('')).toBe(JSON.stringify(value));
        expect(run(encodeSliced(pieces)).value.toString()).toBe(JSON.stringify(value));
      }),
      { numRuns: 500 },
    );
  });

  it('leaves undefined members out, and keeps special keys', () => {
    const value = {
      a: undefined,
      ...(JSON.parse('{"__proto__":[1,2,3],"b":"long enough"}') as object),
      c: undefined,
    };
    expect(run(stringifySliced(value, 4)).value.join('')).toBe(JSON.stringify(value));
  });

  it('writes what is small at once, and what is large in slices whose number grows with it', () => {
    const slicesOf = (count: number) =>
      run(stringifySliced({ input: Array(count).fill({ role: 'user', content: 'x'.repeat(100) }) })).slices;
    expect(slicesOf(100)).toBe(1);
    expect(slicesOf(40_000)).toBeGreaterThan(40);
    expect(run(stringifySliced({ input: '\n'.repeat(4_000_000) })).slices).toBeGreaterThan(40);
  });
});
