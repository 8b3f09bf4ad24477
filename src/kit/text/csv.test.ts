import { expect, it } from 'vitest';
import { csvLine } from './csv.ts';

it('quotes what a reader would split', () => {
  expect(csvLine(['a', 'b,c', 'say "x"', 'two\nlines', 1.5, true, null])).toBe(
    'a,"b,c","say ""x""","two\nlines",1.5,true,\r\n',
  );
});

it('keeps text of callers from becoming a formula', () => {
  expect(csvLine(['=1+1', '@x', '-2', -2])).toBe("'=1+1,'@x,'-2,-2\r\n");
});

it('writes small amounts without an exponent', () => {
  expect(csvLine([1e-7, 1.5e-8, 0.000_336, 0, 1e-9])).toBe(
    '0.0000001,0.000000015,0.000336,0,0.000000001\r\n',
  );
});
