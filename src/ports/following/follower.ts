import type { GenerationContent } from '../content.ts';
import type { StoredGeneration } from '../generations.ts';

/** A settled generation as followers see it. */
export interface FollowedGeneration {
  readonly generation: StoredGeneration;
  /** Undefined if its workspace wants no follower to read content, if it must not be kept, or if it is lost. */
  readonly content: GenerationContent | undefined;
}

/** How far a follower may fall behind. Beyond either bound the oldest generations are left out, and counted. */
export interface FollowerBounds {
  /** Since their settlement, milliseconds. */
  readonly maxAgeMs: number;
  readonly maxGenerations: number;
}

/**
 * Something that is told of generations after their answers: a destination of spans, a classifier. Each has a place
 * of its own among the settled generations, so that one which hangs delays no other.
 */
export interface Follower {
  /** Names its place, for example `destination/<id>`. */
  readonly id: string;
  readonly workspaceId: string;
  readonly bounds: FollowerBounds;
  /**
   * Takes generations of its workspace, in the order of their settlement. Once this resolves they are not given again,
   * except after a crash. A rejection is retried later from the same place; a FollowerWaits says when.
   */
  take(generations: readonly FollowedGeneration[], signal: AbortSignal): Promise<void>;
}

/** A follower cannot go on for now. */
export class FollowerWaits extends Error {
  /** Absent = the usual pause. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.name = 'FollowerWaits';
    this.retryAfterMs = retryAfterMs;
  }
}
