import { describe, expect, it } from 'vitest';
import { tokenCount } from './usage.ts';

describe('a count', () => {
  it.each([0, 7, 1_000_000_000])('is %s', (value) => {
    expect(tokenCount(value)).toBe(value);
  });

  it.each([-1, 1.5, 1e30, Number.NaN, '7', null, undefined])('is not %s', (value) => {
    expect(tokenCount(value)).toBeUndefined();
  });
});
