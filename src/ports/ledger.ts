import type { Amount } from '../ir/amount.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type { Nanos } from '../kit/money.ts';
import type { LimitWindow, WindowNumbers } from '../kit/time/windows.ts';

/** Whose money a generation spends, the narrowest first: it also answers first. */
export type Scope = 'key' | 'workspace' | 'account';

/** The hash of a key, the ids of its workspace and its account. */
export type ScopeIds = Readonly<Record<Scope, string>>;

/** Scopes whose spending may be forgotten. That of an account is part of its balance. */
export type ForgettableScope = Exclude<Scope, 'account'>;

/** The most that may be spent in a window. */
export interface Limit {
  readonly window: LimitWindow;
  readonly nanos: Nanos;
  /** What own credentials served counts too, at its list price. */
  readonly countsByok: boolean;
}

/** The limits of a key and its workspace. That of the account is its balance, which the ledger holds itself. */
export interface Limits {
  readonly key: readonly Limit[];
  readonly workspace: readonly Limit[];
}

/** Whose money, within which limits, when. Where gateways share a database, its clock says which windows are current. */
export interface LocalAllowance {
  readonly scopes: ScopeIds;
  readonly limits: Limits;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

/**
 * What limits leave; null = no limit. An amount passes when its credits alone are within `creditNanos` and credits and
 * BYOK together within `totalNanos`.
 */
export interface Affordable {
  readonly creditNanos: Nanos | null;
  readonly totalNanos: Nanos | null;
}

/** What a purse holds. */
export interface Headroom {
  /** Neither spent nor reserved: the most that can be reserved now. */
  readonly affordable: Affordable;
  /** Not spent, reservations of others not counted: what there will be if all of them come to nothing. */
  readonly unspent: Affordable;
}

/** Why money was not reserved: the limit that left least. */
export interface Refusal {
  readonly scope: Scope;
  readonly window: LimitWindow;
  readonly limitNanos: Nanos;
  /** Neither spent nor reserved, at least 0. */
  readonly leftNanos: Nanos;
}

/** A new generation that money is to be reserved for. */
export interface NewGeneration extends LocalAllowance {
  readonly generationId: string;
  /** What is known of it, for whoever writes its row after a crash. */
  readonly row: JsonObject;
}

/**
 * Why a generation used more than it is charged. The first four are what went beyond its reservation: its prompt, its output,
 * its web searches, or the price of the endpoint that served. `released`: its reservation had been let go before it was booked.
 * `disputed`: its upstream reported more than can be true. `abandoned`: the caller left before there was anything to charge for.
 */
export const WRITE_OFF_CAUSES = [
  'prompt',
  'output',
  'searches',
  'price',
  'released',
  'disputed',
  'abandoned',
] as const;

export type WriteOffCause = (typeof WRITE_OFF_CAUSES)[number];

/** What an upstream may bill and the caller is not charged, whatever limits leave. */
export interface Uncharged {
  readonly nanos: Nanos;
  readonly cause: 'disputed' | 'abandoned';
}

/** How far a generation has come, or how it ended. */
export interface Use {
  readonly used: Amount;
  /** What went beyond the reservation; absent = the output. */
  readonly exceededBy?: WriteOffCause | undefined;
  /** What the upstream may bill beyond `used`; absent = nothing. */
  readonly uncharged?: Uncharged | undefined;
  /** The generation as its row says it; of a checkpoint only what changed since it was accepted. */
  readonly row: JsonObject;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

/** Money that was reserved, or the limit that forbids it. */
export type ReserveOutcome =
  | { readonly ok: true; readonly reserved: Amount }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * More money for an open generation, or why there is none: the limit that forbids it, null where the generation is not open
 * or the ledger is not available.
 */
export type TopUpOutcome =
  | { readonly ok: true; readonly more: Amount }
  | { readonly ok: false; readonly refusal: Refusal | null };

/** What a generation was charged in the end. */
export interface Charge {
  readonly charge: Amount;
  /** Used beyond the reservation and beyond every limit, or disputed: not charged to anybody. */
  readonly writtenOffNanos: Nanos;
}

/** What was spent, over everything and in the current windows. */
export type Sums = Readonly<Record<LimitWindow, Nanos>>;

/** What a key, a workspace or an account has spent. A value: spending more makes another one. */
export interface Spending {
  /** The windows that the sums belong to. */
  readonly windows: WindowNumbers;
  readonly credit: Sums;
  readonly byok: Sums;
}

/**
 * What of an account's books is wrong. All but `equation` are faults of a database that gateways share:
 * - `tally`: the account's sums are missing although something was booked or granted;
 * - `equation`: granted - settled - reserved - left is not 0;
 * - `journals`: gateways have booked more or less from their journals than is settled;
 * - `byok`: the same of what own credentials served;
 * - `reservations`: a scope has more or less reserved than its open reservations hold;
 * - `sums`: a scope's sum is lower than what rows of generations say was booked into it.
 */
export type Fault = 'tally' | 'equation' | 'journals' | 'byok' | 'reservations' | 'sums';

/** The money of an account, and whether its books are right. */
export interface AccountStatement {
  readonly accountId: string;
  /** Null = not enforced, and then there is nothing left to speak of. */
  readonly grantedNanos: Nanos | null;
  readonly settledNanos: Nanos;
  /** Of open generations. */
  readonly reservedNanos: Nanos;
  /** Neither spent nor reserved. What people are shown counts settled money only: granted - settled. */
  readonly leftNanos: Nanos | null;
  /** Used beyond reservations and limits or disputed, and charged to nobody, in all. */
  readonly writtenOffNanos: Nanos;
  /** By how much the books are wrong; of a missing tally that may be 0. */
  readonly differenceNanos: Nanos;
  /** What is wrong; null when nothing is. */
  readonly fault: Fault | null;
}

/** The books as a whole, for `ledger verify`. */
export interface LedgerReport {
  readonly accounts: readonly AccountStatement[];
  readonly openReservations: number;
  /** Generations that have rows. */
  readonly generations: number;
  readonly journal: { readonly segments: number; readonly bytes: number; readonly tornTailBytes: number };
}

/** The ledger cannot record anything now: no paid work may be begun. The message names no path or address. */
export class LedgerUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'LedgerUnavailable';
  }
}

/**
 * Who has spent what, and what is reserved. Everything that it says was done survives the end of the process; what is
 * said to be settled or granted also that of the machine, unless the operator gave that up.
 */
export interface Ledger {
  /**
   * Reserves money for a new generation over all scopes at once, or for none. `size` says how much, given what there is;
   * null = too little. It may be asked again when others were quicker, and must not depend on anything but its argument.
   * Rejects with LedgerUnavailable.
   */
  reserve(generation: NewGeneration, size: (headroom: Headroom) => Amount | null): Promise<ReserveOutcome>;
  /** Reserves more for an open generation, within the limits that it was accepted under. `size`: as with `reserve`. */
  topUp(
    generationId: string,
    size: (headroom: Headroom) => Amount | null,
    atMs: number,
  ): Promise<TopUpOutcome>;
  /** Notes how far an open generation has come, should the process end. Best effort: never rejects. */
  checkpoint(generationId: string, use: Use): Promise<void>;
  /**
   * Ends an open generation, once: lets its reservation go and charges what it used. No limit is passed and no balance goes
   * below zero by it. Of a generation that has ended already what was charged then. Rejects with LedgerUnavailable when
   * that could not be recorded in time; it is recorded as soon as it can be.
   */
  settle(generationId: string, use: Use): Promise<Charge>;
  /** Lets the reservation of a generation go that was never sent. */
  void(generationId: string, atMs: number): Promise<void>;
  /** Sets what is left of an account's balance, reservations not counted; null = not enforced. */
  grant(accountId: string, leftNanos: Nanos | null, atMs: number): Promise<void>;
  /** Forgets what a deleted key or workspace has spent. This and all that reads rejects with LedgerUnavailable. */
  forget(scope: ForgettableScope, id: string, atMs: number): Promise<void>;
  /** What each of these has spent, as it counts at a moment, or now where a shared database has the clock; in the order of the ids. */
  spendingOf(scope: Scope, ids: readonly string[], atMs: number): Promise<Spending[]>;
  /** The money of one account. */
  statementOf(accountId: string): Promise<AccountStatement>;
  /** Everything, reservations summed anew. */
  verify(): Promise<LedgerReport>;
  /** Makes the rows of generations anew from what the ledger has. Resolves with how many there are. */
  rebuild(): Promise<number>;
  /** Generations of this process that are accepted and not settled. */
  readonly openReservations: number;
  /** Generations of this process that were found unsettled long after their end, and settled then: each is a fault. */
  readonly reconciled: number;
  /** False while nothing new may be begun. */
  readonly isAvailable: boolean;
  /** What was written off by this process since it started, by cause. */
  readonly writtenOff: Readonly<Record<WriteOffCause, Nanos>>;
  /**
   * How far the clock of this process is ahead of the one that windows go by, milliseconds; null where that is the same clock,
   * or they were not compared yet.
   */
  readonly clockAheadMs: number | null;
  /** How far behind things are: records that wait for the disk, settled generations that wait for each projection. */
  readonly lag: Readonly<Record<string, number>>;
}
