import { describe, expect, it } from 'vitest';
import { NamePool } from './name-pool.ts';

describe('a pool of names', () => {
  it('numbers those that come again, past names that are taken', () => {
    const pool = new NamePool(['a_3'], 64);
    expect(['a', 'a', 'a', 'b'].map((name) => pool.take(name))).toEqual(['a', 'a_2', 'a_4', 'b']);
  });

  it('keeps names apart that are alike up to the longest length', () => {
    const pool = new NamePool([], 10);
    const wanted = Array.from(
      { length: 200 },
      (_, index) => `abcdefg${String(index % 100).padStart(3, '0')}`,
    );
    const names = wanted.map((name) => pool.take(name));
    expect(new Set(names).size).toBe(200);
    expect(names.every((name) => name.length <= 10)).toBe(true);
  });
});
