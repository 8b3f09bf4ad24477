import type { Amount } from '../../ir/amount.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Nanos } from '../../kit/money.ts';
import type { ScopeIds } from '../money/ledger.ts';
import type { WriteOff, WriteOffCause } from '../money/write-offs.ts';

/** A settled generation as it is stored. Made from its settlement record alone. */
export interface StoredGeneration {
  readonly id: string;
  readonly scopes: ScopeIds;
  readonly settledAtMs: number;
  readonly charge: Amount;
  /** Used beyond every limit and charged to no account. */
  readonly writtenOffNanos: Nanos;
  /** Null when nothing was written off, and for generations settled before causes were recorded. */
  readonly writtenOffCause: WriteOffCause | null;
  /** The generation's row, without its money. */
  readonly row: JsonObject;
}

/** A generation that can never be stored: a retry does not help. */
export class GenerationRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'GenerationRefused';
  }
}

/** A position in the order of settlement: by time, then by id. */
export interface SettledPosition {
  readonly settledAtMs: number;
  readonly id: string;
}

/** Which generations are summed by `writtenOff`; an absent member = all. */
export interface WrittenOffScope {
  readonly accountId?: string | undefined;
  readonly keyHash?: string | undefined;
  /** Settled at or after this moment. */
  readonly fromMs?: number | undefined;
  /** Settled before this moment. */
  readonly toMs?: number | undefined;
}

export interface AccountWriteOff extends WriteOff {
  readonly accountId: string;
}

/** Rows of generations: a projection of the ledger. */
export interface GenerationStore {
  /**
   * Adds rows, all or none; rows with known ids stay as they are. Rejects with GenerationRefused when one of them can
   * never be stored.
   */
  add(generations: readonly StoredGeneration[]): Promise<void>;
  /** Undefined also for generations of other accounts. */
  find(accountId: string, id: string): Promise<StoredGeneration | undefined>;
  count(): Promise<number>;
  /** At most `limit` generations after a position, in the order of settlement. */
  settledAfter(place: SettledPosition, limit: number): Promise<readonly StoredGeneration[]>;
  /**
   * Sums of write-offs, largest first. A generation with several causes counts under that of its largest part; one
   * without a cause, under `UNNAMED_CAUSE`.
   */
  writtenOff(scope: WrittenOffScope): Promise<readonly AccountWriteOff[]>;
  /** Removes at most `limit` generations settled before a moment. Resolves with the number removed. */
  prune(beforeMs: number, limit: number): Promise<number>;
}

/**
 * Generations that were settled a moment ago. The ledger holds them until they have rows: look here first and for a
 * row second, and none is missed.
 */
export interface RecentGenerations {
  /** Undefined when unknown, or when it has its row already. */
  recent(id: string): StoredGeneration | undefined;
}
