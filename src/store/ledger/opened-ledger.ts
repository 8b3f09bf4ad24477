import type { RecentGenerations } from '../../ports/generations/generations.ts';
import type { Ledger } from '../../ports/money/ledger.ts';

/** Work that opening a ledger has done. */
export interface OpeningReport {
  /** Generations that a crash had left open, settled now. */
  readonly settledAfterCrash: number;
  /** Generations among those settled that had used nothing: their reservations were released. */
  readonly releasedAfterCrash: number;
  /** Settled generations of earlier runs that were not booked yet (as rows, or in the shared database). */
  readonly rebooked: number;
  /** The ledger was there before. */
  readonly isRestart: boolean;
  /** Keys and workspaces whose spending was forgotten. */
  readonly forgotten: number;
  /** Bytes of unfinished records that were dropped from the ends of segments. */
  readonly tornTailBytes: number;
}

export interface OpenedLedger {
  readonly ledger: Ledger;
  /** Settled generations that wait for their rows. */
  readonly recentGenerations: RecentGenerations;
  readonly report: OpeningReport;
  /** Settles open generations by their last checkpoints: the process that ran them is gone. Never rejects. */
  settleInterrupted(generationIds: readonly string[]): Promise<void>;
  /** Why the process must be restarted; null, or absent = no reason. */
  restartReason?(): string | null;
  /** Waits a bounded time for work under way. */
  close(): Promise<void>;
}
