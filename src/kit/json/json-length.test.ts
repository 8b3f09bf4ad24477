import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonLength } from './json-length.ts';

describe('jsonLength', () => {
  it('is the length of what JSON.stringify writes', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string());
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.double(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(text, fc.oneof(fc.constant(undefined), tie('value'))),
      ),
    })).value;
    fc.assert(
      fc.property(value, (each) => {
        expect(jsonLength(each)).toBe(JSON.stringify(each).length);
      }),
    );
  });

  it.each([['\ud800'], [{ a: undefined }], [[]], [{}], [{ a: [], 'b"': '\n\u2028' }]])('of %j', (value) => {
    expect(jsonLength(value)).toBe(JSON.stringify(value).length);
  });
});
