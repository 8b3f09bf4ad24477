import { type Amount, NOTHING } from '../../../ir/amount.ts';
import type { UsageSource } from '../../../ir/usage.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import type { Limits, ScopeIds, Use } from '../../../ports/ledger.ts';

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

/** Makes the row of a generation of what was kept of it when it was accepted. */
export type WholeRow = (accepted: JsonObject) => JsonObject;

const asIs: WholeRow = (row) => row;

/**
 * How a generation ended whose gateway crashed: as far as it had come, and with an error. Where its upstream had said what it
 * used, its checkpoint says so.
 */
export function interruptedUse(generation: OpenGeneration, atMs: number, wholeRow: WholeRow = asIs): Use {
  const { charge, usageSource } = resolutionOf(generation);
  return {
    used: charge,
    atMs,
    row: {
      ...wholeRow(generation.row),
      ...generation.checkpoint?.row,
      finish_reason: 'error',
      cancelled: false,
      usage_source: generation.checkpoint?.row.usage_source ?? usageSource,
    },
  };
}
