import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chargeOf, formatPrice, nanosOf, parsePrice, parseUsd, usdOf } from './money.ts';

function price(text: string): bigint {
  const parsed = parsePrice(text);
  if (parsed === undefined) throw new Error(`no price: ${text}`);
  return parsed;
}

describe('prices', () => {
  it.each(['0', '1', '0.000001', '0.000000000000000001', '123456789012.5'])('keep %s exactly', (text) => {
    expect(formatPrice(price(text))).toBe(text);
  });

  it.each(['', '-1', '1e-6', '.5', '1.', '0.0000000000000000001', '1234567890123', ' 1', 'NaN'])(
    'are not read from "%s"',
    (text) => {
      expect(parsePrice(text)).toBeUndefined();
    },
  );

  it('are written as short as they can be', () => {
    expect(formatPrice(price('1.500'))).toBe('1.5');
  });

  it('survive writing and reading', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n - 1n }), (value) => {
        expect(parsePrice(formatPrice(value))).toBe(value);
      }),
    );
  });
});

describe('charges', () => {
  it('are summed exactly and rounded once, half up', () => {
    const half = price('0.0000000005');
    expect(chargeOf([[1, half]])).toBe(1n);
    expect(chargeOf([[1, price('0.000000000499999999')]])).toBe(0n);
    expect(
      chargeOf([
        [1, half],
        [1, half],
      ]),
    ).toBe(1n);
  });

  it('have no rounding of binary fractions', () => {
    expect(chargeOf([[3, price('0.1')]])).toBe(300_000_000n);
  });

  it('of nothing are nothing', () => {
    expect(chargeOf([])).toBe(0n);
  });
});

describe('dollars', () => {
  it.each([
    [0n, 0],
    [1n, 0.000000001],
    [1_500_000_000n, 1.5],
    [-20n, -0.00000002],
    [300_000_000n, 0.3],
  ])('of %d nanos', (nanos, usd) => {
    expect(usdOf(nanos)).toBe(usd);
  });

  it('are what their decimals are', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }), (nanos) => {
        const digits = String(nanos < 0n ? -nanos : nanos).padStart(10, '0');
        const decimal = Number(`${digits.slice(0, -9)}.${digits.slice(-9)}`);
        expect(usdOf(nanos)).toBe(nanos < 0n ? -decimal : decimal);
      }),
    );
  });
});

describe('amounts that people give', () => {
  it.each<[number, bigint]>([
    [0, 0n],
    [0.1, 100_000_000n],
    [12.5, 12_500_000_000n],
    [1e-9, 1n],
    [4e-10, 0n],
    [6e-10, 1n],
    [1 / 3, 333_333_333n],
    [1_000_000_000, 1_000_000_000_000_000_000n],
  ])('reads the number %f', (usd, nanos) => {
    expect(nanosOf(usd)).toBe(nanos);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1_000_000_001])('refuses the number %f', (usd) => {
    expect(() => nanosOf(usd)).toThrow(RangeError);
  });

  it.each<[string, bigint | undefined]>([
    ['0', 0n],
    ['12.5', 12_500_000_000n],
    ['0.0000000005', 1n],
    ['1000000000', 1_000_000_000_000_000_000n],
    ['1000000000.000000001', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['NaN', undefined],
    ['', undefined],
    ['$5', undefined],
    ['1,5', undefined],
  ])('reads the text %j', (text, nanos) => {
    expect(parseUsd(text)).toBe(nanos);
  });
});
