import { describe, expect, it } from 'vitest';
import { parseMoney, typedMoney } from './money-input.ts';

describe('parseMoney', () => {
  it.each([
    ['5000', 5000],
    ['5,000.00', 5000],
    [' $0.25 ', 0.25],
    ['0', 0],
    ['12.', 12],
    ['0.000000001', 1e-9],
  ])('reads %j', (text, usd) => expect(parseMoney(text)).toBe(usd));

  it.each(['', '5,00', '1.2.3', '-1', 'ten', '1e3', '0.0000000001', '1 000'])('refuses %j', (text) =>
    expect(parseMoney(text)).toBeUndefined(),
  );
});

describe('typedMoney', () => {
  it.each([
    [null, ''],
    [5000, '5,000.00'],
    [0.5, '0.50'],
    [0.000000001, '0.000000001'],
  ])('writes %j so that it reads the same', (usd, text) => {
    expect(typedMoney(usd)).toBe(text);
    if (usd !== null) expect(parseMoney(text)).toBe(usd);
  });
});
