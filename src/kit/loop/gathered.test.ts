import { describe, expect, it } from 'vitest';
import { Gathered } from './gathered.ts';

describe('Gathered', () => {
  it('handles the items of a turn together, and those that come meanwhile in the next batch', async () => {
    const batches: (readonly number[])[] = [];
    let release = () => {};
    const gathered = new Gathered<number, number>(async (items) => {
      batches.push(items);
      if (batches.length === 1) await new Promise<void>((resolve) => (release = resolve));
      return items.map((item) => 10 * item);
    });
    const first = [gathered.add(1), gathered.add(2)];
    await new Promise((resolve) => setImmediate(resolve));
    const second = [gathered.add(3), gathered.add(4)];
    await new Promise((resolve) => setImmediate(resolve));
    expect(batches).toEqual([[1, 2]]);
    release();
    expect(await Promise.all([...first, ...second])).toEqual([10, 20, 30, 40]);
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it('rejects the items of a batch that fails, and goes on', async () => {
    const gathered = new Gathered<number, number>(async (items) => {
      if (items.includes(0)) throw new Error('zero');
      return items;
    });
    const failed = await Promise.allSettled([gathered.add(0), gathered.add(1)]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await gathered.add(2)).toBe(2);
  });

  it('handles no more than 500 items at once', async () => {
    const sizes: number[] = [];
    const gathered = new Gathered<number, number>(async (items) => {
      sizes.push(items.length);
      return items;
    });
    const results = await Promise.all(Array.from({ length: 1200 }, (_, at) => gathered.add(at)));
    expect(results.at(-1)).toBe(1199);
    expect(sizes).toEqual([500, 500, 200]);
  });
});
