import { NOTHING } from '../../ir/amount.ts';
import type { ScopeIds } from '../money/ledger.ts';
import type { GenerationRow } from './generation-row.ts';
import type { StoredGeneration } from './generations.ts';

/** A request that was refused before any upstream was called. It cost nothing, and no ledger knows it. */
export interface RefusedRequest {
  /** The id that the caller got. */
  readonly id: string;
  readonly scopes: Pick<ScopeIds, 'account' | 'workspace' | 'key'>;
  readonly refusedAtMs: number;
  /** With `refused_requests`. */
  readonly row: GenerationRow;
}

/** The account and the workspace that a key belongs to, or belonged to. */
export interface KeyOwner {
  readonly accountId: string;
  readonly workspaceId: string;
}

/**
 * Rows of refused requests, apart from those of generations: nothing that sums money reads them. They are no part of
 * the ledger, and those of the last second are lost if the process is killed.
 */
export interface RefusedRequests {
  /** Adds rows, all or none; rows with known ids stay as they are. */
  add(requests: readonly RefusedRequest[]): Promise<void>;
  /** As a generation that cost nothing; undefined also for requests of other accounts. */
  find(accountId: string, id: string): Promise<StoredGeneration | undefined>;
  /** The owner of a key that was deleted; undefined if none is known. */
  ownerOfDeleted(keyHash: string): Promise<KeyOwner | undefined>;
  /** Removes at most `limit` rows from before a moment, and what is known of keys that were deleted before it. */
  prune(beforeMs: number, limit: number): Promise<number>;
}

/** A refused request in the form of a generation. */
export function refusedGeneration({ id, scopes, refusedAtMs, row }: RefusedRequest): StoredGeneration {
  return {
    id,
    scopes,
    settledAtMs: refusedAtMs,
    charge: NOTHING,
    writtenOffNanos: 0n,
    writtenOffCause: null,
    row,
  };
}
