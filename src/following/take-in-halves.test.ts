import { expect, it } from 'vitest';
import { type FollowedGeneration, FollowerRefuses, FollowerWaits } from '../ports/following/follower.ts';
import { takeInHalves } from './take-in-halves.ts';

const batchOf = (length: number) =>
  Array.from(
    { length },
    (_, index) => ({ generation: { id: String(index) } }) as unknown as FollowedGeneration,
  );

/** A follower that refuses what contains certain generations. */
function refusing(bad: (id: number) => boolean) {
  const taken: string[] = [];
  let calls = 0;
  return {
    taken,
    calls: () => calls,
    take: async (generations: readonly FollowedGeneration[]) => {
      calls++;
      const ids = generations.map(({ generation }) => generation.id);
      if (ids.some((id) => bad(Number(id)))) throw new FollowerRefuses('status 400');
      taken.push(...ids);
    },
  };
}

it('gives a batch at once', async () => {
  const { take, calls } = refusing(() => false);
  expect(await takeInHalves(batchOf(100), take)).toEqual({ refused: 0, reason: undefined });
  expect(calls()).toBe(1);
});

it('leaves out what is refused, and keeps the order of the rest', async () => {
  const { take, taken } = refusing((id) => id === 3 || id === 90);
  expect(await takeInHalves(batchOf(100), take)).toEqual({ refused: 2, reason: 'status 400' });
  expect(taken.map(Number)).toEqual(
    Array.from({ length: 100 }, (_, id) => id).filter((id) => id !== 3 && id !== 90),
  );
});

it('does not ask a follower that refuses everything for each', async () => {
  const { take, calls } = refusing(() => true);
  expect(await takeInHalves(batchOf(512), take)).toEqual({ refused: 512, reason: 'status 400' });
  expect(calls()).toBeLessThan(15);
});

it('rejects with other failures', async () => {
  const waits = async () => Promise.reject(new FollowerWaits('status 500'));
  await expect(takeInHalves(batchOf(4), waits)).rejects.toThrow('status 500');
});
