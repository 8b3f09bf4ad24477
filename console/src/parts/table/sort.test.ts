import { describe, expect, it } from 'vitest';
import { sorted, sortOf, sortText } from './sort.ts';

describe('sorted', () => {
  it('compares numbers as numbers and puts what has no value last', () => {
    const rows = [10, null, 9, 100];
    expect(sorted(rows, (row) => row, false)).toEqual([9, 10, 100, null]);
    expect(sorted(rows, (row) => row, true)).toEqual([100, 10, 9, null]);
  });

  it('compares names without regard to case, and digits in them as numbers', () => {
    expect(sorted(['key 10', 'Key 9', 'a'], (row) => row, false)).toEqual(['a', 'Key 9', 'key 10']);
  });
});

describe('sortOf', () => {
  it('reads what sortText writes', () => {
    for (const sort of [
      { by: 'spent', isDescending: true },
      { by: 'name', isDescending: false },
    ]) {
      expect(sortOf(sortText(sort))).toEqual(sort);
    }
    expect(sortOf(null)).toBeNull();
    expect(sortOf('-')).toBeNull();
  });
});
