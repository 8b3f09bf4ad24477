import { type FollowedGeneration, FollowerWaits } from '../ports/following/follower.ts';
import { type BatchOutcome, takeInHalves } from './take-in-halves.ts';

/** Generations that are given before one that has failed alone. */
export const OTHERS = 9;

/** Tries of that one once others were taken. */
const TRIES = 3;

/**
 * Gives a follower the first generation of a batch, which has failed alone, after the others. If it takes some of them
 * and fails with the first again, that one is why, and is refused; otherwise the follower is away, and this rejects.
 */
export async function takeAfterOthers(
  [first, ...others]: readonly FollowedGeneration[],
  take: (generations: readonly FollowedGeneration[]) => Promise<void>,
): Promise<BatchOutcome> {
  if (first === undefined) return { refused: 0, reason: undefined };
  const outcome = await takeInHalves(others, take);
  const hasTaken = others.length > outcome.refused;
  for (let tries = 1; ; tries++) {
    try {
      const { refused, reason } = await takeInHalves([first], take);
      return { refused: outcome.refused + refused, reason: reason ?? outcome.reason };
    } catch (error) {
      if (!(error instanceof FollowerWaits) || error.fault === undefined) throw error;
      if (!hasTaken) throw error;
      if (tries === TRIES) return { refused: outcome.refused + 1, reason: error.message };
    }
  }
}
