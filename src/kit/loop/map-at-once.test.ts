import { describe, expect, it } from 'vitest';
import { mapAtOnce } from './map-at-once.ts';

describe('mapping with a bound', () => {
  it('keeps the order, and never has more at work than allowed', async () => {
    let running = 0;
    let most = 0;
    const doubled = await mapAtOnce([5, 1, 4, 2, 3], 2, async (turns) => {
      most = Math.max(most, ++running);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      running -= 1;
      return turns * 2;
    });
    expect(doubled).toEqual([10, 2, 8, 4, 6]);
    expect(most).toBe(2);
  });

  it('rejects like the first item that fails, and takes none at all', async () => {
    await expect(mapAtOnce([1, 2], 1, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await mapAtOnce([], 3, async () => 1)).toEqual([]);
  });
});
