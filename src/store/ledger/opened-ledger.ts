import type { RecentGenerations } from '../../ports/generations.ts';
import type { Ledger } from '../../ports/ledger.ts';

/** What was found and done when a ledger was opened. */
export interface OpeningReport {
  /** Generations that were open and are settled now. */
  readonly resolved: number;
  /** Keys and workspaces whose spending was forgotten. */
  readonly forgotten: number;
  /** Bytes at the end of segments that were being written when the machine or the process stopped. */
  readonly tornTailBytes: number;
}

/** A ledger that is open. */
export interface OpenedLedger {
  readonly ledger: Ledger;
  /** Generations on the way to their rows. */
  readonly recentGenerations: RecentGenerations;
  readonly report: OpeningReport;
  /** Why the process must be restarted; null, and where it is absent, it need not be. */
  fault?(): string | null;
  /** Waits for what is under way, within reason. */
  close(): Promise<void>;
}
