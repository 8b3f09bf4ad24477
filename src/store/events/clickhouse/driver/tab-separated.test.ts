import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runAtOnce } from '../../../../kit/loop/turns.ts';
import { fieldOf, literalOf, rowsOf } from './tab-separated.ts';

it('reads back what it writes, whatever the texts hold', () => {
  const rows = fc.array(
    fc.tuple(fc.string({ unit: 'binary' }), fc.option(fc.string({ unit: 'binary' })), fc.constant('\\N')),
    { minLength: 1 },
  );
  fc.assert(
    fc.property(rows, (written) => {
      const text = written.map((row) => `${row.map(fieldOf).join('\t')}\n`).join('');
      expect(runAtOnce(rowsOf(text))).toEqual(written);
    }),
  );
});

it('writes numbers, flags and nothing', () => {
  expect([1, 2n ** 60n, true, false, null].map(fieldOf)).toEqual([
    '1',
    '1152921504606846976',
    '1',
    '0',
    '\\N',
  ]);
  expect(runAtOnce(rowsOf(''))).toEqual([]);
});

it('leaves no quote in a literal by which it could end', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("'", '\\', '\n', 'a', '\0') }), (text) => {
      const literal = literalOf(text);
      expect(literal.slice(1, -1).replaceAll(/\\./g, '')).not.toMatch(/['\\\n]/);
    }),
  );
});
