import { describe, expect, it } from 'vitest';
import {
  columnMoney,
  copiedMoney,
  exactMoney,
  limitColumn,
  moneyColumn,
  moneyText,
  pricePerMillion,
  shortMoney,
  sumMoney,
} from './money.ts';

describe('exactMoney', () => {
  it('shows every digit that an amount has, and parts those below a cent', () => {
    expect(exactMoney(0.0489688)).toEqual({ main: '$0.04', below: '89688', exact: '0.048968800' });
    expect(exactMoney(12.5)).toEqual({ main: '$12.50', below: '', exact: '12.500000000' });
    expect(exactMoney(0.000000001)).toEqual({ main: '$0.00', below: '0000001', exact: '0.000000001' });
  });

  it('writes nothing charged as $0', () => {
    expect(exactMoney(0).main).toBe('$0');
  });

  it('writes a refund with a real minus sign', () => {
    expect(exactMoney(-0.25).main).toBe('−$0.25');
  });
});

describe('columnMoney', () => {
  it('always has six places, so that points align', () => {
    expect(columnMoney(0.0489688)).toMatchObject({ main: '$0.04', below: '8969' });
    expect(columnMoney(3)).toMatchObject({ main: '$3.00', below: '0000' });
  });
});

describe('moneyColumn', () => {
  const written = (...amounts: number[]) => amounts.map((usd) => moneyText(moneyColumn(amounts)(usd)));

  it('writes all amounts of a column with one number of places', () => {
    expect(written(1.29, 0.5214, 0.02, 0)).toEqual(['$1.2900', '$0.5214', '$0.0200', '$0']);
    expect(written(12.5, 3, 0.25)).toEqual(['$12.50', '$3.00', '$0.25']);
    expect(written(0.8394, 0.000305)).toEqual(['$0.839400', '$0.000305']);
    expect(written(1e-7)).toEqual(['$0.000000100']);
  });

  it('does not let a small amount make large ones long, nor writes it as nothing', () => {
    expect(written(1_661.5361, 0.000305, -0.000305)).toEqual(['$1,661.54', '<$0.01', '−<$0.01']);
  });

  it('writes limits, which are mostly whole cents, with two places', () => {
    expect([5, 0.1, 0].map(limitColumn([5, 0.1, 0]))).toEqual(['$5.00', '$0.10', '$0.00']);
    expect([50, 0.002].map(limitColumn([50, 0.002]))).toEqual(['$50.0000', '$0.0020']);
  });
});

describe('sums and prices', () => {
  it('have two places and groups', () => {
    expect(sumMoney(1661.5361)).toBe('$1,661.54');
    expect(copiedMoney(1661.5361)).toBe('1661.536100000');
  });

  it('are per million tokens, with at least two places', () => {
    expect(pricePerMillion(0.000002)).toBe('2.00');
    expect(pricePerMillion(0.000000075)).toBe('0.075');
    expect(pricePerMillion(0)).toBe('0.00');
  });
});

describe('shortMoney', () => {
  it.each([
    [0, '$0.00'],
    [12.5, '$12.50'],
    [0.01, '$0.01'],
    [0.000336, '$0.000336'],
    [0.0012345, '$0.00123'],
    [0.000000001, '$0.000000001'],
    [-0.000336, '−$0.000336'],
  ])('writes %j as %s', (usd, text) => expect(shortMoney(usd)).toBe(text));
});
