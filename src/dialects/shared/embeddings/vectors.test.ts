import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64OfVector, lengthOfVector, vectorIn } from './vectors.ts';

const floats = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 64 });

describe('vectors', () => {
  it('are the same after a way through base64', () => {
    fc.assert(
      fc.property(floats, (vector) => {
        expect(vectorIn('float', base64OfVector(vector))).toEqual(vector);
      }),
    );
  });

  it('are little-endian 32-bit floats in base64', () => {
    expect(base64OfVector([1, -2])).toBe(Buffer.from('0000803f000000c0', 'hex').toString('base64'));
  });

  it('that are encoded as asked stay as they are', () => {
    const given = [0.1, 1e-7];
    expect(vectorIn('float', given)).toBe(given);
    expect(vectorIn('base64', 'AACAPw==')).toBe('AACAPw==');
  });

  it.each([[''], [[]], ['AAA='], [null], [undefined], [['1']], [{}], [7]])('are not %j', (given) => {
    expect(vectorIn('float', given)).toBeUndefined();
    expect(vectorIn('base64', given)).toBeUndefined();
  });

  it('have the same length in both encodings', () => {
    fc.assert(
      fc.property(floats, (vector) => {
        expect([lengthOfVector(vector), lengthOfVector(base64OfVector(vector))]).toEqual([
          vector.length,
          vector.length,
        ]);
      }),
    );
  });
});
