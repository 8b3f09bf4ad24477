import { type Amount, atLeast, minus, NOTHING, plus } from '../../../ir/amount.ts';
import type { Nanos } from '../../../kit/money.ts';
import { type WindowNumbers, windowsAt } from '../../../kit/time/windows.ts';
import type { Scope, ScopeIds } from '../../../ports/money/ledger.ts';
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
import { type Balance, regranted, UNGRANTED } from './balance.ts';
import { EndedGenerations, type EndedIds, NONE_ENDED } from './ended-generations.ts';
import { countedScopes, idIn } from './limits.ts';
import type { OpenGeneration } from './open-generation.ts';
import { hasSpent, NOTHING_SPENT, spend, spendingAt } from './spending.ts';
import { Tallies, type Tally, type TallyEntry } from './tallies.ts';

/** Effect of a record: applied, or none because it was applied before or its generation is unknown. */
export type Applied = 'applied' | 'repeated' | 'unknown';

/** The content of the books. Immutable: later records do not change it. */
export interface BooksSnapshot {
  /** Sequence of its last record. */
  readonly sequence: number;
  readonly tallies: Readonly<Record<Scope, readonly TallyEntry[]>>;
  readonly balances: readonly (readonly [accountId: string, balance: Balance])[];
  readonly open: readonly OpenGeneration[];
  readonly ended: EndedIds;
}

export const EMPTY_BOOKS: BooksSnapshot = {
  sequence: 0,
  tallies: { key: [], member: [], workspace: [], account: [] },
  balances: [],
  open: [],
  ended: NONE_ENDED,
};

/**
 * The state of the books. Only records change it, and each record once: one that is replayed again has no effect.
 * Limits are not checked here: `Books` has decided before it made the record.
 */
export class BooksState {
  readonly #tallies: Tallies;
  readonly #balances: Map<string, Balance>;
  readonly #open = new Map<string, OpenGeneration>();
  readonly #ended: EndedGenerations;
  /** Sequence of the snapshot: records up to here are in it. */
  readonly #restored: number;
  #sequence: number;
  /** Cached, because they rarely change: all tallies then share one object. */
  #windows: WindowNumbers | undefined;

  constructor(snapshot: BooksSnapshot) {
    this.#tallies = new Tallies(snapshot.tallies);
    this.#balances = new Map(snapshot.balances);
    this.#ended = new EndedGenerations(snapshot.ended);
    this.#restored = snapshot.sequence;
    this.#sequence = snapshot.sequence;
    for (const generation of snapshot.open) {
      this.#open.set(generation.generationId, generation);
      const { creditNanos, byokNanos } = generation.reserved;
      // A tally that is empty without the reservations of later generations would be removed, with its sequence.
      if (creditNanos > 0n || byokNanos > 0n) this.#reserve(generation.scopes, generation.reserved);
    }
  }

  get nextSequence(): number {
    return this.#sequence + 1;
  }

  windowsAt(ms: number): WindowNumbers {
    this.#windows = windowsAt(ms, this.#windows);
    return this.#windows;
  }

  tallyOf(scope: Scope, id: string): Tally {
    return this.#tallies.get(scope, id);
  }

  idsOf(scope: Scope): Iterable<string> {
    return this.#tallies.ids(scope);
  }

  /** Accounts with a grant, spending or a reservation. */
  accountIds(): Iterable<string> {
    return this.#balances.keys();
  }

  balanceOf(accountId: string): Balance {
    return this.#balances.get(accountId) ?? UNGRANTED;
  }

  get open(): ReadonlyMap<string, OpenGeneration> {
    return this.#open;
  }

  /** Whether a generation is known to have ended. */
  hasEnded(generationId: string): boolean {
    return this.#ended.has(generationId);
  }

  /** Takes a snapshot synchronously; cheap, because values are shared. */
  snapshot(): BooksSnapshot {
    return {
      sequence: this.#sequence,
      tallies: this.#tallies.entries(),
      balances: [...this.#balances],
      open: [...this.#open.values()],
      ended: this.#ended.ids(),
    };
  }

  apply(record: LedgerRecord): Applied {
    if (record.sequence <= this.#restored) return 'repeated';
    if (record.sequence > this.#sequence) this.#sequence = record.sequence;
    switch (record.kind) {
      case 'accept':
        return this.#accept(record);
      case 'top-up':
        return this.#topUp(record);
      case 'checkpoint':
        return this.#checkpoint(record);
      case 'settle':
        return this.#settle(record);
      case 'void':
        return this.#void(record);
      case 'grant':
        return this.#grant(record);
      case 'forget':
        return this.#forget(record);
    }
  }

  #accept({ generationId, scopes, limits, reserved, row, atMs }: AcceptRecord): Applied {
    if (this.#open.has(generationId) || this.#ended.has(generationId)) return 'repeated';
    this.#open.set(generationId, {
      generationId,
      scopes,
      limits,
      reserved,
      acceptedAtMs: atMs,
      row,
      checkpoint: null,
    });
    this.#reserve(scopes, reserved, this.windowsAt(atMs));
    this.#addToLeft(scopes.account, -reserved.creditNanos);
    return 'applied';
  }

  #topUp({ generationId, reserved }: TopUpRecord): Applied {
    const generation = this.#open.get(generationId);
    if (generation === undefined) return this.#notOpen(generationId);
    // Reservations only grow: an earlier record that is replayed again has the smaller amount.
    const raised = atLeast(generation.reserved, reserved);
    const more = minus(raised, generation.reserved);
    this.#open.set(generationId, { ...generation, reserved: raised });
    this.#reserve(generation.scopes, more);
    this.#addToLeft(generation.scopes.account, -more.creditNanos);
    return 'applied';
  }

  #checkpoint({ generationId, spent, atMs, row, sequence }: CheckpointRecord): Applied {
    const generation = this.#open.get(generationId);
    if (generation === undefined) return this.#notOpen(generationId);
    if (sequence <= (generation.checkpoint?.sequence ?? 0)) return 'repeated';
    this.#open.set(generationId, { ...generation, checkpoint: { spent, atMs, row, sequence } });
    return 'applied';
  }

  /** Books the charge even if the record of its reservation was lost. */
  #settle({ generationId, scopes, charge, writtenOffNanos, atMs, sequence }: SettleRecord): Applied {
    const isOpen = this.#open.has(generationId);
    if (!isOpen && this.#ended.has(generationId)) return 'repeated';
    const reserved = this.#end(generationId);
    const windows = this.windowsAt(atMs);
    for (const scope of countedScopes(scopes)) {
      const id = idIn(scopes, scope);
      const tally = this.#tallies.get(scope, id);
      this.#tallies.set(scope, id, {
        spending: spend(tally.spending, charge, windows),
        reserved: minus(tally.reserved, reserved),
        sequence,
      });
    }
    this.#addToLeft(scopes.account, reserved.creditNanos - charge.creditNanos, writtenOffNanos);
    return 'applied';
  }

  #void({ generationId }: VoidRecord): Applied {
    if (this.#ended.has(generationId)) return 'repeated';
    const scopes = this.#open.get(generationId)?.scopes;
    const reserved = this.#end(generationId);
    if (scopes === undefined) return 'unknown';
    for (const scope of countedScopes(scopes)) {
      const id = idIn(scopes, scope);
      const tally = this.#tallies.get(scope, id);
      this.#tallies.set(scope, id, { ...tally, reserved: minus(tally.reserved, reserved) });
    }
    this.#addToLeft(scopes.account, reserved.creditNanos);
    return 'applied';
  }

  #grant({ accountId, grantedNanos, sequence }: GrantRecord): Applied {
    const balance = this.balanceOf(accountId);
    if (sequence <= balance.sequence) return 'repeated';
    this.#balances.set(accountId, { ...balance, ...regranted(balance, grantedNanos), sequence });
    return 'applied';
  }

  #forget({ scope, id, sequence }: ForgetRecord): Applied {
    const tally = this.#tallies.get(scope, id);
    if (sequence <= tally.sequence || !hasSpent(tally.spending)) return 'repeated';
    this.#tallies.set(scope, id, { ...tally, spending: NOTHING_SPENT, sequence });
    return 'applied';
  }

  #notOpen(generationId: string): Applied {
    return this.#ended.has(generationId) ? 'repeated' : 'unknown';
  }

  /** Closes a generation. Returns its reservation. */
  #end(generationId: string): Amount {
    const reserved = this.#open.get(generationId)?.reserved ?? NOTHING;
    this.#open.delete(generationId);
    this.#ended.add(generationId);
    return reserved;
  }

  /** `windows`: resets expired windows, so that a clock set back before the charge does not count into an old one. */
  #reserve(scopes: ScopeIds, more: Amount, windows?: WindowNumbers): void {
    for (const scope of countedScopes(scopes)) {
      const id = idIn(scopes, scope);
      const { spending, reserved, sequence } = this.#tallies.get(scope, id);
      const current = windows === undefined || !hasSpent(spending) ? spending : spendingAt(spending, windows);
      this.#tallies.set(scope, id, {
        spending: current,
        reserved: plus(reserved, more),
        sequence,
      });
    }
  }

  #addToLeft(accountId: string, nanos: Nanos, writtenOffNanos = 0n): void {
    const balance = this.balanceOf(accountId);
    const { grantedNanos, isEnforced, leftNanos, sequence } = balance;
    this.#balances.set(accountId, {
      grantedNanos,
      isEnforced,
      leftNanos: leftNanos + nanos,
      writtenOffNanos: balance.writtenOffNanos + writtenOffNanos,
      sequence,
    });
  }
}
