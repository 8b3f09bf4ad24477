import type { GenerationContent } from '../content/content.ts';
import type { StoredGeneration } from '../generations/generations.ts';

export interface FollowedGeneration {
  readonly generation: StoredGeneration;
  /** Undefined if its follower reads no content, if it must not be kept, or if it is lost. */
  readonly content: GenerationContent | undefined;
}

/** How far a follower may fall behind. Beyond either bound the oldest generations are left out, and counted. */
export interface FollowerBounds {
  /** Counted from their settlement. */
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
  /** For figures, such as `otel-collector`; absent = what its id begins with. */
  readonly type?: string;
  /** Changes when the follower is made again from other settings. */
  readonly version: string;
  readonly workspaceId: string;
  /** It takes what was settled at or after this moment: when it was created, or switched on again. */
  readonly sinceMs: number;
  readonly bounds: FollowerBounds;
  /** Generations of a call of `take`: after a crash so many may be given again. */
  readonly batchSize: number;
  readonly readsContent: boolean;
  /** Pause after it has taken all that was there, milliseconds, so that the next batch is larger; absent = none. */
  readonly restMs?: number;
  /**
   * Takes generations of its workspace, in the order in which their rows became visible. Once this resolves they are
   * not given again, except after a crash. A rejection is retried later from the same place: a FollowerWaits says when.
   * After a FollowerRefuses the batch is halved until it is known which generations cannot be taken; so is one that
   * goes on failing by its fault, with pauses, and a single one is left out if others are taken meanwhile.
   */
  take(generations: readonly FollowedGeneration[], signal: AbortSignal): Promise<void>;
}

/** Followers of one kind, by the stored state of the moment. A table of sources says which there are. */
export interface FollowerSource {
  /** Followers that are switched on, in all workspaces. */
  followers(): Promise<readonly Follower[]>;
}

/** How a follower fails that may go on with fewer or other generations: it gives no answer in time, or a fault. */
export type FollowerFault = 'late' | 'failed';

/** A follower cannot go on for now. The message is shown: it holds no secret and no address. */
export class FollowerWaits extends Error {
  /** Undefined = the usual pause. */
  readonly retryAfterMs: number | undefined;
  /** Undefined = whatever it is given. */
  readonly fault: FollowerFault | undefined;

  constructor(
    message: string,
    {
      retryAfterMs,
      fault,
    }: { readonly retryAfterMs?: number | undefined; readonly fault?: FollowerFault | undefined } = {},
  ) {
    super(message);
    this.name = 'FollowerWaits';
    this.retryAfterMs = retryAfterMs;
    this.fault = fault;
  }
}

/** Generations can never be taken together: a retry does not help. The message is shown. */
export class FollowerRefuses extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FollowerRefuses';
  }
}
