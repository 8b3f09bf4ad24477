import { type Amount, assertAmount, plus } from '../../../ir/amount.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import type { Nanos } from '../../../kit/money.ts';
import type {
  AccountStatement,
  BalanceLeft,
  ForgettableScope,
  Headroom,
  Limits,
  Payer,
  Refusal,
  Scope,
  ScopeIds,
  Spending,
  Use,
} from '../../../ports/money/ledger.ts';
import type {
  AcceptRecord,
  CheckpointRecord,
  ForgetRecord,
  GrantRecord,
  LedgerRecord,
  SettleRecord,
  TopUpRecord,
  VoidRecord,
} from '../records/records.ts';
import { balanceLimits } from './balance.ts';
import { type Applied, type BooksSnapshot, BooksState, EMPTY_BOOKS } from './books-state.ts';
import {
  chargeWithin,
  countedNanos,
  countedScopes,
  headroomWithin,
  idIn,
  limitsIn,
  refusalOf,
  type Standing,
  spentNanos,
  tightestLimit,
  tooLittle,
} from './limits.ts';
import type { OpenGeneration } from './open-generation.ts';
import { spendingAt } from './spending.ts';
import { writtenOffBy } from './write-offs.ts';

/** Money to be reserved for a new generation. */
export interface Reservation extends Payer {
  readonly generationId: string;
  /**
   * The most that the generation may cost. A limit that includes BYOK counts both parts, because the credential that
   * serves is unknown until the settlement.
   */
  readonly amount: Amount;
  /** Facts of the generation so far: its row is made from them after a crash. */
  readonly row: JsonObject;
}

/** Done, and the record to be journalled. */
export interface Done<R extends LedgerRecord> {
  readonly ok: true;
  readonly record: R;
}

/** Not done: a limit forbids it. */
export interface Refused {
  readonly ok: false;
  readonly reason: 'limit';
  readonly refusal: Refusal;
}

/** Not done: the generation has ended, or is unknown (also if it ended too long ago to be remembered). */
export interface NotOpen {
  readonly ok: false;
  readonly reason: 'ended' | 'unknown';
}

/**
 * Spending and reservations, changed for all scopes of a generation or for none. Synchronous, so that
 * nothing comes between a check and what it allows. Every change is decided here, becomes a record, and is made by
 * applying that record: books that apply the same records after a restart are equal.
 */
export class Books {
  readonly #state: BooksState;

  /**
   * Empty books, or those of a snapshot. These may apply the records that came later, and earlier ones to no effect.
   */
  constructor(snapshot: BooksSnapshot = EMPTY_BOOKS) {
    this.#state = new BooksState(snapshot);
  }

  /** Sequence of the last record; 0 while there is none. */
  get sequence(): number {
    return this.#state.nextSequence - 1;
  }

  /**
   * Reserves money for a new generation. Throws when its id was used before. `standings`: computed in the same turn.
   */
  reserve(
    { generationId, scopes, limits, amount, row, atMs }: Reservation,
    standings: readonly Standing[] = this.#standings(scopes, limits, atMs),
  ): Done<AcceptRecord> | Refused {
    assertAmount(amount);
    const refusal = refusalOf(standings, amount);
    if (refusal !== undefined) return { ok: false, reason: 'limit', refusal };
    const record: AcceptRecord = {
      kind: 'accept',
      sequence: this.#state.nextSequence,
      atMs,
      generationId,
      scopes,
      limits,
      reserved: amount,
      row,
    };
    if (this.#state.apply(record) === 'repeated') {
      throw new RangeError(`generation ${generationId} has been accepted before`);
    }
    return { ok: true, record };
  }

  /** Where the limits of a new generation stand, in the order of the scopes. */
  standings({ scopes, limits, atMs }: Payer): readonly Standing[] {
    return this.#standings(scopes, limits, atMs);
  }

  /** The amount that can be reserved. `standings`: computed in the same turn. */
  headroom(allowance: Payer, standings = this.standings(allowance)): Headroom {
    return headroomWithin(standings);
  }

  /** The limit that leaves least; undefined when nothing is limited. */
  tightestLimit({ scopes, limits, atMs }: Payer): Refusal | undefined {
    return tightestLimit(this.#standings(scopes, limits, atMs));
  }

  /** Reserves more for an open generation, within the limits that it was accepted under. `size`: null = too little. */
  topUp(
    generationId: string,
    size: (headroom: Headroom) => Amount | null,
    atMs: number,
  ): (Done<TopUpRecord> & { readonly more: Amount }) | Refused | NotOpen {
    const generation = this.#state.open.get(generationId);
    if (generation === undefined) return this.#notOpen(generationId);
    const standings = this.#standings(generation.scopes, generation.limits, atMs);
    const more = size(headroomWithin(standings));
    if (more === null) return { ok: false, reason: 'limit', refusal: tooLittle(standings) };
    assertAmount(more);
    const refusal = refusalOf(standings, more);
    if (refusal !== undefined) return { ok: false, reason: 'limit', refusal };
    const reserved = plus(generation.reserved, more);
    const done = this.#done<TopUpRecord>({
      kind: 'top-up',
      sequence: this.#state.nextSequence,
      atMs,
      generationId,
      reserved,
    });
    return { ...done, more };
  }

  checkpoint(generationId: string, { used, row, atMs }: Use): Done<CheckpointRecord> | NotOpen {
    assertAmount(used);
    if (!this.#state.open.has(generationId)) return this.#notOpen(generationId);
    return this.#done<CheckpointRecord>({
      kind: 'checkpoint',
      sequence: this.#state.nextSequence,
      atMs,
      generationId,
      spent: used,
      row,
    });
  }

  /**
   * The charge of settling this use: all of it, unless it exceeds both the reservation and a limit. Undefined
   * when the generation is not open. Needed to put the charge into the row that is settled.
   */
  chargeFor(generationId: string, used: Amount, atMs: number): Amount | undefined {
    assertAmount(used);
    const generation = this.#state.open.get(generationId);
    return generation === undefined ? undefined : this.#charge(generation, used, atMs);
  }

  /**
   * Ends an open generation: releases its reservation and charges what it used, once. Never refused. No limit is
   * exceeded and no balance becomes negative: the excess is written off.
   */
  settle(generationId: string, use: Use): Done<SettleRecord> | NotOpen {
    const { used, atMs } = use;
    assertAmount(used);
    const generation = this.#state.open.get(generationId);
    if (generation === undefined) return this.#notOpen(generationId);
    const charge = this.#charge(generation, used, atMs);
    return this.#done<SettleRecord>({
      kind: 'settle',
      sequence: this.#state.nextSequence,
      atMs,
      generationId,
      scopes: generation.scopes,
      charge,
      ...writtenOffBy(use, charge),
    });
  }

  /** Releases the reservation of a generation that was never sent upstream. */
  void(generationId: string, atMs: number): Done<VoidRecord> | NotOpen {
    if (!this.#state.open.has(generationId)) return this.#notOpen(generationId);
    return this.#done<VoidRecord>({ kind: 'void', sequence: this.#state.nextSequence, atMs, generationId });
  }

  /**
   * Sets what is left of an account's balance, reservations not counted; null = not enforced. Open generations are
   * still charged, so lowering a balance can make it negative; use alone cannot.
   */
  grant(accountId: string, leftNanos: Nanos | null, atMs: number): Done<GrantRecord> {
    const grantedNanos = leftNanos === null ? null : this.#settledNanos(accountId) + leftNanos;
    return this.#done<GrantRecord>({
      kind: 'grant',
      sequence: this.#state.nextSequence,
      atMs,
      accountId,
      grantedNanos,
    });
  }

  /**
   * Forgets the spending of a deleted key or workspace. Its open generations are still settled and begin a new sum,
   * which the next start forgets.
   */
  forget(scope: ForgettableScope, id: string, atMs: number): Done<ForgetRecord> {
    return this.#done<ForgetRecord>({ kind: 'forget', sequence: this.#state.nextSequence, atMs, scope, id });
  }

  /** Applies a record that was decided before, in a replay. */
  apply(record: LedgerRecord): Applied {
    return this.#state.apply(record);
  }

  snapshot(): BooksSnapshot {
    return this.#state.snapshot();
  }

  /** Spending of a scope, with the windows at a moment. */
  spendingOf(scope: Scope, id: string, atMs: number): Spending {
    return spendingAt(this.#state.tallyOf(scope, id).spending, this.#state.windowsAt(atMs));
  }

  /** The ids that have spent or reserved something. */
  idsOf(scope: Scope): Iterable<string> {
    return this.#state.idsOf(scope);
  }

  /** Generations that were accepted and have not ended, by id, oldest first. */
  get open(): ReadonlyMap<string, OpenGeneration> {
    return this.#state.open;
  }

  statementOf(accountId: string): AccountStatement {
    return this.#statement(accountId, this.#state.tallyOf('account', accountId).reserved.creditNanos);
  }

  /** Remainders of the enforced balances, the least first. */
  balancesLeft(): BalanceLeft[] {
    const left: BalanceLeft[] = [];
    for (const accountId of this.#state.accountIds()) {
      const { isEnforced, leftNanos } = this.#state.balanceOf(accountId);
      if (isEnforced) left.push({ accountId, leftNanos });
    }
    return left.sort((one, other) => compareNanos(one.leftNanos, other.leftNanos));
  }

  /** The money of all accounts, with reservations summed from the open generations. */
  verify(): AccountStatement[] {
    const reserved = new Map<string, Nanos>();
    for (const generation of this.#state.open.values()) {
      const { account } = generation.scopes;
      reserved.set(account, (reserved.get(account) ?? 0n) + generation.reserved.creditNanos);
    }
    return [...this.#state.accountIds()].map((id) => this.#statement(id, reserved.get(id) ?? 0n));
  }

  #done<R extends LedgerRecord>(record: R): Done<R> {
    this.#state.apply(record);
    return { ok: true, record };
  }

  #notOpen(generationId: string): NotOpen {
    return { ok: false, reason: this.#state.hasEnded(generationId) ? 'ended' : 'unknown' };
  }

  #charge({ scopes, limits, reserved }: OpenGeneration, used: Amount, atMs: number): Amount {
    if (used.creditNanos <= reserved.creditNanos) return used;
    return chargeWithin(this.#standings(scopes, limits, atMs), reserved, used);
  }

  #standings(scopes: ScopeIds, limits: Limits, atMs: number): Standing[] {
    const standings: Standing[] = [];
    const windows = this.#state.windowsAt(atMs);
    for (const scope of countedScopes(scopes)) {
      const own =
        scope === 'account' ? balanceLimits(this.#state.balanceOf(scopes.account)) : limitsIn(limits, scope);
      if (own.length === 0) continue;
      const { spending, reserved } = this.#state.tallyOf(scope, idIn(scopes, scope));
      const current = spendingAt(spending, windows);
      for (const limit of own) {
        const unspentNanos = limit.nanos - spentNanos(limit, current);
        standings.push({
          scope,
          limit,
          unspentNanos,
          leftNanos: unspentNanos - countedNanos(limit, reserved),
        });
      }
    }
    return standings;
  }

  #settledNanos(accountId: string): Nanos {
    return this.#state.tallyOf('account', accountId).spending.credit.lifetime;
  }

  #statement(accountId: string, reservedNanos: Nanos): AccountStatement {
    const { grantedNanos, isEnforced, leftNanos, writtenOffNanos } = this.#state.balanceOf(accountId);
    const settledNanos = this.#settledNanos(accountId);
    const differenceNanos = grantedNanos - settledNanos - reservedNanos - leftNanos;
    return {
      accountId,
      grantedNanos: isEnforced ? grantedNanos : null,
      settledNanos,
      reservedNanos,
      leftNanos: isEnforced ? leftNanos : null,
      writtenOffNanos,
      differenceNanos,
      fault: differenceNanos === 0n ? null : 'equation',
    };
  }
}

function compareNanos(one: Nanos, other: Nanos): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
