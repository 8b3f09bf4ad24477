import { expect, it } from 'vitest';
import { openCountingThread } from './counting-thread.ts';

it('a counting thread counts each slice, and goes on where the last one ended', async () => {
  const thread = openCountingThread();
  try {
    expect(await thread.count([['one two three', ' four'], [], ['größer']])).toEqual([4, 0, 2]);
    expect(await thread.count([['one']])).toEqual([1]);
  } finally {
    await thread.close();
  }
});
