import { describe, expect, it } from 'vitest';
import {
  bytes,
  change,
  contextSize,
  count,
  counted,
  percent,
  percentOf,
  pointChange,
  usedPercent,
} from './numbers.ts';

describe('count', () => {
  it('shows all digits below ten million, three afterwards', () => {
    expect(count(184_902)).toBe('184,902');
    expect(count(9_999_999)).toBe('9,999,999');
    expect(count(12_345_678)).toBe('12.3 M');
    expect(count(1_920_000_000)).toBe('1.92 B');
  });
});

describe('changes', () => {
  it('have a sign, a real minus, and none for no change', () => {
    expect(change(109, 100)).toBe('+9.0 %');
    expect(change(98.3, 100)).toBe('−1.7 %');
    expect(change(100.001, 100)).toBe('0 %');
    expect(pointChange(0.718, 0.689)).toBe('+2.9 pt');
  });

  it('are absent where there was nothing before', () => {
    expect(change(5, 0)).toBe('–');
    expect(change(0, 0)).toBe('0 %');
  });
});

it('writes shares, contexts and sizes', () => {
  expect(percent(0.718)).toBe('71.8 %');
  expect(contextSize(1_048_576)).toBe('1,049 K');
  expect(bytes(812)).toBe('812 B');
  expect(bytes(1_400_000)).toBe('1.4 MB');
});

describe('percent', () => {
  it('does not write a little as nothing, nor nearly all as all', () => {
    expect([0, 0.0004, 0.0006, 0.9994, 0.9996, 1].map((share) => percent(share))).toEqual([
      '0 %',
      '<0.1 %',
      '0.1 %',
      '99.9 %',
      '>99.9 %',
      '100 %',
    ]);
    expect(percent(0.004, 0)).toBe('<1 %');
  });

  it('has no tenths of few things', () => {
    expect([percentOf(7, 9), percentOf(22, 200), percentOf(0, 0)]).toEqual(['78 %', '11.0 %', '0 %']);
  });
});

describe('usedPercent', () => {
  it.each([
    [0.929, '92 %'],
    [0.93, '93 %'],
    [0.98999, '98 %'],
    [0.996, '99.6 %'],
    [0.99999, '99.9 %'],
    [1, '100 %'],
    [1.2, '100 %'],
  ])('of %d is %s: full only if it is', (share, text) => expect(usedPercent(share)).toBe(text));
});

describe('counted', () => {
  it('has the plural for all but one', () => {
    expect([0, 1, 2_000].map((value) => counted(value, 'key'))).toEqual(['0 keys', '1 key', '2,000 keys']);
  });
});
