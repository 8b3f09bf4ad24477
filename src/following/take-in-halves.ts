import { type FollowedGeneration, FollowerRefuses } from '../ports/following/follower.ts';

/** Single generations that may be refused before any is taken; then the rest of the batch counts as refused too. */
const MAX_REFUSED_ALONE = 3;

export interface BatchOutcome {
  readonly refused: number;
  /** Why some were refused; undefined if none was. */
  readonly reason: string | undefined;
}

/**
 * Gives a batch to a follower. If it is refused, halves it until the refused generations are found. A follower that
 * refuses everything is not asked for each.
 */
export async function takeInHalves(
  batch: readonly FollowedGeneration[],
  take: (generations: readonly FollowedGeneration[]) => Promise<void>,
): Promise<BatchOutcome> {
  let taken = 0;
  let refused = 0;
  let reason: string | undefined;
  const waiting = [batch];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (taken === 0 && refused >= MAX_REFUSED_ALONE) {
      refused += part.length;
      continue;
    }
    try {
      await take(part);
      taken += part.length;
    } catch (error) {
      if (!(error instanceof FollowerRefuses)) throw error;
      reason = error.message;
      const half = part.length >> 1;
      if (half === 0) refused++;
      else waiting.push(part.slice(half), part.slice(0, half));
    }
  }
  return { refused, reason };
}
