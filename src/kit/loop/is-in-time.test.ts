import { expect, it } from 'vitest';
import { isInTime } from './is-in-time.ts';

it('says whether work was done in time', async () => {
  expect(await isInTime(Promise.resolve(), 1_000)).toBe(true);
  expect(await isInTime(new Promise(() => {}), 5)).toBe(false);
});

it('rejects as the work does', async () => {
  await expect(isInTime(Promise.reject(new Error('no')), 1_000)).rejects.toThrow('no');
});
