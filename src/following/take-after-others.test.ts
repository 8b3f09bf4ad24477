import { describe, expect, it } from 'vitest';
import { type FollowedGeneration, FollowerRefuses, FollowerWaits } from '../ports/following/follower.ts';
import { takeAfterOthers } from './take-after-others.ts';

const batch = ['a', 'b', 'c'].map((id) => ({ generation: { id } }) as unknown as FollowedGeneration);

/** A follower that fails with some generations; notes which it was given. */
function failing(bad: Readonly<Record<string, Error>>) {
  const asked: string[] = [];
  const take = async (generations: readonly FollowedGeneration[]) => {
    const ids = generations.map(({ generation }) => generation.id).join('');
    asked.push(ids);
    for (const id of ids) if (bad[id] !== undefined) throw bad[id];
  };
  return { asked, take };
}

const fault = new FollowerWaits('status 500', { fault: 'failed' });

describe('a generation that has failed alone', () => {
  it('is left out if others are taken before it fails again, three times', async () => {
    const { asked, take } = failing({ a: fault });
    expect(await takeAfterOthers(batch, take)).toEqual({ refused: 1, reason: 'status 500' });
    expect(asked).toEqual(['bc', 'a', 'a', 'a']);
  });

  it('is taken if it fails no more', async () => {
    const { asked, take } = failing({});
    expect(await takeAfterOthers(batch, take)).toEqual({ refused: 0, reason: undefined });
    expect(asked).toEqual(['bc', 'a']);
  });

  it('waits while others fail too, or there are none, or only refused ones', async () => {
    await expect(takeAfterOthers(batch, failing({ a: fault, b: fault }).take)).rejects.toBe(fault);
    await expect(takeAfterOthers(batch.slice(0, 1), failing({ a: fault }).take)).rejects.toBe(fault);
    const refused = new FollowerRefuses('status 400');
    const refuses = failing({ a: fault, b: refused, c: refused });
    await expect(takeAfterOthers(batch, refuses.take)).rejects.toBe(fault);
  });

  it('waits if it is not the generation that fails', async () => {
    const away = new FollowerWaits('no answer');
    await expect(takeAfterOthers(batch, failing({ a: away }).take)).rejects.toBe(away);
  });
});
