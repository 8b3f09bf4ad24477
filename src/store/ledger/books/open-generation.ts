import { type Amount, NOTHING } from '../../../ir/amount.ts';
import type { UsageSource } from '../../../ir/usage.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import type { Limits, RunningGeneration, ScopeIds, Use } from '../../../ports/money/ledger.ts';
import { plusWriteOffs, type WriteOff, writeOffsOf } from '../../../ports/money/write-offs.ts';

/** A generation with a reservation that is not settled yet. */
export interface OpenGeneration {
  readonly generationId: string;
  readonly scopes: ScopeIds;
  readonly limits: Limits;
  readonly reserved: Amount;
  readonly acceptedAtMs: number;
  /** Members of its row that were known when it was accepted. */
  readonly row: JsonObject;
  readonly checkpoint: Checkpoint | null;
}

export interface Checkpoint {
  /** The charge if it ended here: tokens once there was output, and the cost of tools. */
  readonly spent: Amount;
  readonly atMs: number;
  readonly row: JsonObject;
  readonly sequence: number;
}

/** How a generation is settled after a crash. */
export interface CrashSettlement {
  readonly charge: Amount;
  readonly usageSource: UsageSource;
}

/** Without a checkpoint there was no output, and nothing is charged; otherwise what the last checkpoint says. */
export function crashSettlementOf({ checkpoint }: OpenGeneration): CrashSettlement {
  return checkpoint === null
    ? { charge: NOTHING, usageSource: 'none' }
    : { charge: checkpoint.spent, usageSource: 'estimated' };
}

/** How many of these generations have used nothing. */
export function countUnused(open: Iterable<OpenGeneration>): number {
  let count = 0;
  for (const { checkpoint } of open) if (checkpoint === null) count++;
  return count;
}

export function runningIn(open: Iterable<OpenGeneration>, accountId: string): RunningGeneration[] {
  const running: RunningGeneration[] = [];
  for (const { generationId, scopes, reserved, row, checkpoint } of open) {
    if (scopes.account !== accountId) continue;
    running.push({
      generationId,
      scopes,
      reserved,
      spent: checkpoint?.spent ?? NOTHING,
      row: checkpoint === null ? row : { ...row, ...checkpoint.row },
    });
  }
  return running;
}

/** Completes the row of a generation from what was known when it was accepted. */
export type CompleteRow = (accepted: JsonObject) => JsonObject;

const asIs: CompleteRow = (row) => row;

/**
 * The use of a generation that a crash interrupted: what its last checkpoint says, with finish reason `error`. What
 * that writes off stays written off, and so is the rest of what was reserved, which upstreams may bill for the calls of
 * then. The usage source is the checkpoint's own if it has one, because the upstream may have reported usage by then.
 */
export function interruptedUse(
  generation: OpenGeneration,
  atMs: number,
  completeRow: CompleteRow = asIs,
): Use {
  const { charge, usageSource } = crashSettlementOf(generation);
  return {
    used: charge,
    uncharged: plusWriteOffs(
      writeOffsOf(generation.checkpoint?.row ?? {}),
      restOf(generation.reserved, charge),
    ),
    atMs,
    row: {
      ...completeRow(generation.row),
      ...generation.checkpoint?.row,
      finish_reason: 'error',
      cancelled: false,
      usage_source: generation.checkpoint?.row.usage_source ?? usageSource,
    },
  };
}

function restOf({ creditNanos: reserved }: Amount, { creditNanos: charged }: Amount): WriteOff[] | undefined {
  return reserved > charged ? [{ cause: 'cut', nanos: reserved - charged }] : undefined;
}
