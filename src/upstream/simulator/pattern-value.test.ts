import { describe, expect, it } from 'vitest';
import { Allowance, AllowanceSpent } from './allowance.ts';
import { patternValue } from './pattern-value.ts';

const textFor = (pattern: string, least: number, allowance = new Allowance()) =>
  patternValue(pattern, { least, most: Number.POSITIVE_INFINITY, wished: least }, allowance);

describe('patternValue', () => {
  it.each([
    '^[A-Z]{3}-\\d{2}$',
    '^[a-z]+$',
    '^\\+?[0-9]{7,15}$',
    '^(?:red|green|blue)$',
    '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$',
    '^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$',
    '^#(?<hex>[0-9a-fA-F]{6})$',
    '^\\p{Lu}\\p{L}*$',
    '^\\u0041[\\w.-]{2}\\$$',
    'needle',
    '',
    '^[-+]?\\d*\\.\\d+?$',
    '^[^a-zA-Z0-9]$',
    '^\\P{L}\\p{Script=Cyrillic}$',
    '^[\\p{L}\\d]{3}$',
  ])('fits %s', (pattern) => {
    expect(textFor(pattern, 0)).toMatch(new RegExp(pattern, 'u'));
  });

  it('grows to the length that is asked for, where the pattern lets it', () => {
    expect(textFor('^[a-z]+$', 20)).toHaveLength(20);
    expect(textFor('^[a-z]{3}$', 20)).toHaveLength(3);
  });

  it.each(['(?=a)b', '(a)\\1', '(?<!x)y', '(unclosed', '[unclosed', '('.repeat(200)])(
    'gives up on %s',
    (pattern) => {
      expect(textFor(pattern, 0)).toBeUndefined();
    },
  );

  it('is as long as the pattern says', () => {
    expect(textFor('^a{1000}$', 0)).toHaveLength(1000);
    expect(textFor('^[a-z]+$', 20_000)).toHaveLength(20_000);
    const lengths = { least: 2, most: 4, wished: 9 };
    expect(patternValue('^[a-z]+$', lengths, new Allowance())).toHaveLength(2);
  });

  it.each([
    ['nested repetitions', '^((a{1000}){1000}){400}$'],
    ['many nested repetitions', `${'('.repeat(40)}a${'{9999})'.repeat(40)}`],
    ['a long text', 'x'.repeat(1_000_000)],
    ['a choice of long texts', `a?|${'x'.repeat(1_000_000)}`],
    ['many Unicode properties', '\\p{L}'.repeat(1000)],
  ])('is not written before it is paid for: %s', (_, pattern) => {
    expect(() => textFor(pattern, 4096)).toThrow(AllowanceSpent);
  });

  it('takes a pattern apart once, however often it is asked', () => {
    const allowance = new Allowance();
    const pattern = `^(?:[a-z]|${'x'.repeat(2000)})$`;
    for (let time = 0; time < 100; time++) textFor(pattern, 0, allowance);
    expect(allowance.isAmple).toBe(true);
  });
});
