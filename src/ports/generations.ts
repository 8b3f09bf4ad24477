import type { Amount } from '../ir/amount.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type { Nanos } from '../kit/money.ts';
import type { ScopeIds, WriteOffCause } from './ledger.ts';

/** A generation that was settled, as it is kept. Made from a record of the ledger, and from nothing else. */
export interface StoredGeneration {
  readonly id: string;
  readonly scopes: ScopeIds;
  readonly settledAtMs: number;
  readonly charge: Amount;
  /** Used beyond every limit, charged to nobody. */
  readonly writtenOffNanos: Nanos;
  /** Why; null where nothing was written off, and of generations that were settled before causes were kept. */
  readonly writtenOffCause: WriteOffCause | null;
  /** What the gateway knew of it, without its money. */
  readonly row: JsonObject;
}

/** A generation that can never be stored as it is: trying again is of no use. */
export class GenerationRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'GenerationRefused';
  }
}

/** A place among generations in the order in which they were settled: by moment, then by id. */
export interface SettledPlace {
  readonly settledAtMs: number;
  readonly id: string;
}

/** Rows of generations: a projection of the ledger. */
export interface GenerationStore {
  /**
   * Adds rows; those whose id is there already stay as they are. All or none. Rejects with GenerationRefused when one of them
   * is to blame.
   */
  add(generations: readonly StoredGeneration[]): Promise<void>;
  /** Undefined also for those of other accounts. */
  find(accountId: string, id: string): Promise<StoredGeneration | undefined>;
  count(): Promise<number>;
  /** At most `limit` of those behind a place, in the order in which they were settled. */
  settledAfter(place: SettledPlace, limit: number): Promise<readonly StoredGeneration[]>;
  /** Removes at most `limit` of those settled before a moment. Resolves with how many were removed. */
  prune(beforeMs: number, limit: number): Promise<number>;
}

/**
 * Generations that were settled a moment ago. The ledger holds them until they have rows, so that whoever looks here
 * first and for a row then misses none.
 */
export interface RecentGenerations {
  /** Undefined when there is none, or it has its row already. */
  recent(id: string): StoredGeneration | undefined;
}
