import type { Amount } from '../../ir/amount.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Nanos } from '../../kit/money.ts';
import type { LimitWindow, WindowNumbers } from '../../kit/time/windows.ts';
import type { DiskWaits } from './journal.ts';
import type { WriteOff, WriteOffCause } from './write-offs.ts';

/** Levels at which spending is counted and limited, narrowest first. */
export type Scope = 'key' | 'member' | 'workspace' | 'account';

/** The hash of a key, the ids of its workspace and its account. */
export interface ScopeIds extends Readonly<Record<Exclude<Scope, 'member'>, string>> {
  /**
   * The member who created the key, as `memberScopeId` names them; absent = spending of members is not counted for
   * this key, because no limit of a member applies to it.
   */
  readonly member?: string | undefined;
}

/** Names a member in the ledger: ids of members are unique in an account only. */
export function memberScopeId(accountId: string, userId: string): string {
  return `${accountId}:${userId}`;
}

/** Scopes whose spending may be forgotten. That of an account is part of its balance. */
export type ForgettableScope = 'key' | 'workspace';

/** The most that may be spent in a window. */
export interface Limit {
  readonly window: LimitWindow;
  readonly nanos: Nanos;
  /** Usage on the account's BYOK credentials counts too, at list price. */
  readonly countsByok: boolean;
  /** The guardrail that sets it; absent = the key or the workspace does. */
  readonly guardrailId?: string | undefined;
}

/**
 * The limits of a key, its member and its workspace. The limit of the account is its balance, which the ledger holds.
 */
export interface Limits {
  readonly key: readonly Limit[];
  /** Absent = none. */
  readonly member?: readonly Limit[] | undefined;
  readonly workspace: readonly Limit[];
}

/**
 * The scopes that pay and their limits, at a moment. With a shared database its clock decides which windows are
 * current.
 */
export interface Payer {
  readonly scopes: ScopeIds;
  readonly limits: Limits;
  readonly atMs: number;
}

/**
 * Remainders of limits; null = no limit. An amount passes when its credits alone are within `creditNanos`, and credits
 * and BYOK together within `totalNanos`.
 */
export interface Affordable {
  readonly creditNanos: Nanos | null;
  readonly totalNanos: Nanos | null;
}

export interface Headroom {
  /** Neither spent nor reserved: the most that can be reserved now. */
  readonly affordable: Affordable;
  /** Not spent, whatever is reserved: what there is if all open reservations are released. */
  readonly unspent: Affordable;
}

/** Why money was not reserved: the limit that left least. */
export interface Refusal {
  readonly scope: Scope;
  readonly window: LimitWindow;
  readonly limitNanos: Nanos;
  /** Neither spent nor reserved, at least 0. */
  readonly leftNanos: Nanos;
  /** The guardrail that sets the limit; absent = none does. */
  readonly guardrailId?: string | undefined;
}

export interface NewGeneration extends Payer {
  readonly generationId: string;
  /** Facts of it so far: its row is made from them after a crash. */
  readonly row: JsonObject;
}

/** Usage of a generation so far, or in the end. */
export interface Use {
  readonly used: Amount;
  /** The cause of an excess over the reservation; absent = the output. */
  readonly exceededBy?: WriteOffCause | undefined;
  /** Costs that the upstream may bill beyond `used`, each cause once; absent = none. */
  readonly uncharged?: readonly WriteOff[] | undefined;
  /** The generation's row; of a checkpoint only the members that changed since it was accepted. */
  readonly row: JsonObject;
  readonly atMs: number;
}

/** Money that was reserved, or the limit that forbids it. */
export type ReserveOutcome =
  | { readonly ok: true; readonly reserved: Amount }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * More money for an open generation, or the limit that forbids it; the refusal is null when the generation is not open
 * or the ledger is not available.
 */
export type TopUpOutcome =
  | { readonly ok: true; readonly more: Amount }
  | { readonly ok: false; readonly refusal: Refusal | null };

export interface FinalCharge {
  readonly charge: Amount;
  /** Used beyond reservation and limits, or disputed: charged to no account. */
  readonly writtenOffNanos: Nanos;
}

/** A generation that was accepted and has not ended. */
export interface RunningGeneration {
  readonly generationId: string;
  readonly scopes: ScopeIds;
  /** Held for it: the most that it may cost so far. */
  readonly reserved: Amount;
  /** The charge if it ended at its last checkpoint. */
  readonly spent: Amount;
  /** Members of its row that are known: those of its acceptance, and over them those of its last checkpoint. */
  readonly row: JsonObject;
}

/** Whose generations may begin: all, only those that no limit and no balance covers, or none. */
export type Admitting = 'all' | 'unlimited' | 'none';

export interface BalanceLeft {
  readonly accountId: string;
  /** Neither spent nor reserved. */
  readonly leftNanos: Nanos;
}

/** Sums of spending: lifetime and current windows. */
export type Sums = Readonly<Record<LimitWindow, Nanos>>;

/** Spending of a key, a workspace or an account. Immutable. */
export interface Spending {
  readonly windows: WindowNumbers;
  readonly credit: Sums;
  readonly byok: Sums;
}

/**
 * Faults of an account's books. All but `equation` are faults of a shared database:
 * - `tally`: the account's sums are missing although something was booked or granted;
 * - `equation`: granted - settled - reserved - left is not 0;
 * - `journals`: gateways have booked more or less from their journals than is settled;
 * - `byok`: the same of what BYOK credentials served;
 * - `reservations`: a scope has more or less reserved than its open reservations hold;
 * - `sums`: a scope's sum is lower than what rows of generations say was booked into it.
 */
export type Fault = 'tally' | 'equation' | 'journals' | 'byok' | 'reservations' | 'sums';

/** The money of an account, and whether its books are right. */
export interface AccountStatement {
  readonly accountId: string;
  /** Null = the balance is not enforced; then `leftNanos` is null too. */
  readonly grantedNanos: Nanos | null;
  readonly settledNanos: Nanos;
  readonly reservedNanos: Nanos;
  /** Neither spent nor reserved. The balance shown to users is granted - settled. */
  readonly leftNanos: Nanos | null;
  /** Used beyond reservations and limits, or disputed, and charged to no account; lifetime. */
  readonly writtenOffNanos: Nanos;
  /** Amount by which the books are wrong; may be 0 when the tally is missing. */
  readonly differenceNanos: Nanos;
  /** The fault; null if there is none. */
  readonly fault: Fault | null;
}

/** True if an account has money or a fault; one with write-offs only has money too. */
export function hasMoney(statement: AccountStatement): boolean {
  const { grantedNanos, settledNanos, reservedNanos, writtenOffNanos, fault } = statement;
  return (
    grantedNanos !== null ||
    fault !== null ||
    [settledNanos, reservedNanos, writtenOffNanos].some((nanos) => nanos !== 0n)
  );
}

/** The books as a whole, for `ledger verify`. */
export interface LedgerReport {
  readonly accounts: readonly AccountStatement[];
  readonly openReservations: number;
  readonly generations: number;
  readonly journal: { readonly segments: number; readonly bytes: number; readonly tornTailBytes: number };
}

/** The ledger cannot record anything now: paid work must not begin. The message names no path or address. */
export class LedgerUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'LedgerUnavailable';
  }
}

/**
 * Spending, reservations and balances. A call that resolved survives a crash of the process; settlements and grants
 * also survive a power loss, unless the operator chose less durability.
 */
export interface Ledger {
  /**
   * Reserves money for a new generation in all scopes, or in none. `size` returns the amount for a given headroom;
   * null = too little. It may be called again after a conflict, so it must depend on its argument alone. Rejects with
   * LedgerUnavailable.
   */
  reserve(generation: NewGeneration, size: (headroom: Headroom) => Amount | null): Promise<ReserveOutcome>;
  /** Reserves more for an open generation, within the limits that it was accepted under. `size`: as with `reserve`. */
  topUp(
    generationId: string,
    size: (headroom: Headroom) => Amount | null,
    atMs: number,
  ): Promise<TopUpOutcome>;
  /** Records what an open generation has used so far, for a crash. Best effort: never rejects. */
  checkpoint(generationId: string, use: Use): Promise<void>;
  /**
   * Ends an open generation once: releases its reservation and charges what it used, within limits and balance. For a
   * generation that has ended, resolves with the charge of then. Rejects with LedgerUnavailable when the record could
   * not be written in time; it is written as soon as that is possible.
   */
  settle(generationId: string, use: Use): Promise<FinalCharge>;
  /** Releases the reservation of a generation that was never sent upstream. */
  void(generationId: string, atMs: number): Promise<void>;
  /** Sets what is left of an account's balance, reservations not counted; null = not enforced. */
  grant(accountId: string, leftNanos: Nanos | null, atMs: number): Promise<void>;
  /** Forgets the spending of a deleted key or workspace. This and all reads reject with LedgerUnavailable. */
  forget(scope: ForgettableScope, id: string, atMs: number): Promise<void>;
  /** Spending of each id, in order. Windows are those at `atMs`, or now by the clock of a shared database. */
  spendingOf(scope: Scope, ids: readonly string[], atMs: number): Promise<Spending[]>;
  /** The generations of an account that run in this process, in no particular order. */
  runningOf(accountId: string): Promise<readonly RunningGeneration[]>;
  statementOf(accountId: string): Promise<AccountStatement>;
  /** The enforced balances with the least left, least first; at most `limit`. */
  balancesLeft(limit: number): Promise<readonly BalanceLeft[]>;
  /** All accounts, with reservations summed from the open generations. */
  verify(): Promise<LedgerReport>;
  /** Makes the rows of generations again from the journal. Resolves with the number of rows. */
  rebuild(): Promise<number>;
  /** Generations of this process that are accepted and not settled. */
  readonly openReservations: number;
  /** Generations of this process that were settled by the reconciler, long after their end: each is a fault. */
  readonly reconciled: number;
  /** False while its disk or its database does not answer. `admitting` says what may begin all the same. */
  readonly isAvailable: boolean;
  /** Why is said by `LedgerUnavailable` when a generation is refused. */
  readonly admitting: Admitting;
  readonly writtenOff: Readonly<Record<WriteOffCause, Nanos>>;
  /**
   * How far the clock of this process is ahead of the shared database's, which decides windows, milliseconds; null
   * with an embedded ledger, or before the first comparison.
   */
  readonly clockAheadMs: number | null;
  /** What this process holds ahead for payers that reserve often; null with an embedded ledger, which needs none. */
  readonly slices: SliceFigures | null;
  readonly disk: DiskWaits;
  /** Queue lengths: records waiting for the disk, settled generations waiting for each projection. */
  readonly lag: Readonly<Record<string, number>>;
}

/** Figures of slices: money that is reserved in the shared database ahead of the generations that it pays for. */
export interface SliceFigures {
  readonly open: number;
  /** Credits that no generation has taken. */
  readonly freeNanos: Nanos;
  /** Generations that slices have paid for, without a statement of their own. */
  readonly paidGenerations: number;
  /** Statements that leased or refilled a slice. */
  readonly statements: number;
}

export type GenerationLedger = Pick<Ledger, 'reserve' | 'topUp' | 'checkpoint' | 'settle' | 'void'>;
