import { type Amount, NOTHING } from '../../../ir/amount.ts';
import type { UsageSource } from '../../../ir/usage.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import type { Limits, ScopeIds } from '../../../ports/ledger.ts';

/** A generation that money is reserved for and that is not settled. */
export interface OpenGeneration {
  readonly generationId: string;
  readonly scopes: ScopeIds;
  readonly limits: Limits;
  readonly reserved: Amount;
  readonly acceptedAtMs: number;
  /** What was known of it when money was reserved, as its row will say it. */
  readonly row: JsonObject;
  readonly checkpoint: Checkpoint | null;
}

/** How far a generation had come. */
export interface Checkpoint {
  /** What would be charged if it ended here: tokens once there was output, and whatever tools have cost. */
  readonly spent: Amount;
  readonly atMs: number;
  /** What was known of it by then, as its row will say it. */
  readonly row: JsonObject;
  /** The record that says so. */
  readonly sequence: number;
}

/** What becomes of a generation whose gateway crashed. */
export interface Resolution {
  readonly charge: Amount;
  readonly usageSource: UsageSource;
}

/** A crash before any output costs nothing; one in the middle what the last checkpoint says. */
export function resolutionOf({ checkpoint }: OpenGeneration): Resolution {
  return checkpoint === null
    ? { charge: NOTHING, usageSource: 'none' }
    : { charge: checkpoint.spent, usageSource: 'estimated' };
}
