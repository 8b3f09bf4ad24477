import type { RowPlace } from './settled-rows.ts';

/** How far a follower has come, and how it fares. */
export interface FollowerNote {
  readonly place: RowPlace;
  readonly taken: number;
  /** Generations that were left out: it was too far behind, or refused them for good. */
  readonly dropped: number;
  /** Why it does not go on; null = it does. */
  readonly problem: string | null;
  /** Since when, epoch milliseconds. */
  readonly problemSinceMs: number | null;
  /** Generations that waited for it, by the last count. */
  readonly waiting: number;
  readonly updatedAtMs: number;
}

/** Notes of followers, shared by all gateways of an installation. */
export interface FollowerNotes {
  /** Takes or renews the right to run followers, which one gateway at a time has. */
  takeTurn(): Promise<boolean>;
  /** Lets another gateway take it at once. */
  endTurn(): Promise<void>;
  listAll(): Promise<ReadonlyMap<string, FollowerNote>>;
  /** False, and nothing is noted, without the right to run followers. */
  note(followerId: string, note: FollowerNote): Promise<boolean>;
  forget(followerId: string): Promise<void>;
}
