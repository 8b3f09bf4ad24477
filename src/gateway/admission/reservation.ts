import { type Amount, minus, NOTHING, plus } from '../../ir/amount.ts';
import type { ChargeKind, PaidCharge, ToolCallRecord } from '../../ir/leg.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Nanos } from '../../kit/money.ts';
import type { ChargeRow } from '../../ports/generations/generation-row.ts';
import {
  type Affordable,
  type GenerationLedger,
  type Headroom,
  LedgerUnavailable,
  type ReserveOutcome,
} from '../../ports/money/ledger.ts';
import { plusWriteOffs, type WriteOff } from '../../ports/money/write-offs.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import { isUnlimited } from './reservation-size.ts';

export interface Charge {
  readonly kind: ChargeKind;
  readonly nanos: Nanos;
}

/** What a generation's own limit leaves is not enough. */
class BeyondMax extends Error {}

export interface ReservationOptions {
  readonly ledger: GenerationLedger;
  readonly now: () => number;
  /** Most that the generation may cost: nothing is held or charged beyond it. Undefined = no limit of its own. */
  readonly maxNanos?: Nanos | undefined;
}

/** Charges listed in a record; the rest is only counted. */
const MAX_LISTED_CHARGES = 100;

export function chargeRows(charges: readonly Charge[]): ChargeRow[] {
  return charges.slice(0, MAX_LISTED_CHARGES).map(({ kind, nanos }) => ({ kind, nanos: String(nanos) }));
}

/** The money reserved for one generation: held for running legs, spent by ended legs, or free. */
export class GenerationReservation {
  readonly #input: Pick<GenerationInput, 'generationId' | 'caller'>;
  readonly #ledger: GenerationLedger;
  readonly #now: () => number;
  /** Paid besides model calls. */
  readonly charges: Charge[] = [];
  /** What services bill beyond their charges. */
  writeOffs: readonly WriteOff[] | undefined;
  readonly toolCalls: ToolCallRecord[] = [];
  /** Writes a checkpoint; absent before the first leg, when charges are the only progress. */
  noteProgress: (() => Promise<void>) | undefined;
  #reserved = NOTHING;
  #held = NOTHING;
  #spent = NOTHING;
  #isOpen = false;
  #isClosed = false;
  /** The checkpoint of tool calls that is due. */
  #noting: NodeJS.Immediate | undefined;
  /** True if no limit applied when the generation was opened. */
  #isUnlimited = false;
  readonly #maxNanos: Nanos | undefined;
  #isBoundByMax = false;
  /** Tokens of all ended legs. */
  usedTokens = 0;
  dearestLegNanos: Nanos = 0n;
  /** Serializes holds, so that two legs never count the same free money. */
  #holding: Promise<ReserveOutcome> | undefined;

  constructor(
    input: Pick<GenerationInput, 'generationId' | 'caller'>,
    { ledger, now, maxNanos }: ReservationOptions,
  ) {
    this.#input = input;
    this.#ledger = ledger;
    this.#now = now;
    this.#maxNanos = maxNanos;
  }

  /** True if the ledger knows the generation, which then has to be settled. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get reserved(): Amount {
    return this.#reserved;
  }

  /** Spent by ended legs and charges. */
  get spent(): Amount {
    return this.#spent;
  }

  /** What a leg that holds an amount may cost within the generation's own limit; undefined = there is none. */
  mostFor({ creditNanos: held }: Amount): Nanos | undefined {
    if (this.#maxNanos === undefined) return undefined;
    const others = this.#held.creditNanos - held;
    return this.#maxNanos - this.#spent.creditNanos - others;
  }

  /**
   * The part of a use within the generation's own limit: the rest is charged to no account. It has all charges, which
   * are held within the limit; only an upstream that writes more than its leg has held can pass it.
   */
  withinMax(used: Amount): Amount {
    const max = this.#maxNanos;
    return max === undefined || used.creditNanos <= max ? used : { ...used, creditNanos: max };
  }

  /** True if the generation's own limit was the lowest at the last hold. */
  get isBoundByMax(): boolean {
    return this.#isBoundByMax;
  }

  /**
   * Adds calls of server tools to the record. Those of one turn share a checkpoint, which is not awaited. `begun`: the
   * record of a call that they replace. Returns the number of the first in the record, from 1.
   */
  noteToolCalls(calls: readonly ToolCallRecord[], begun?: ToolCallRecord): number {
    const known = begun === undefined ? -1 : this.toolCalls.indexOf(begun);
    const at = known === -1 ? this.toolCalls.length : known;
    this.toolCalls.splice(at, known === -1 ? 0 : 1, ...calls);
    this.#noting ??= setImmediate(() => void this.noteNow());
    return at + 1;
  }

  /** Writes a checkpoint, with the tool calls for which one is due. A ledger that is down refuses the next leg. */
  async noteNow(): Promise<void> {
    clearImmediate(this.#noting);
    this.#noting = undefined;
    if (!this.#isClosed) await this.noteProgress?.().catch(() => {});
  }

  get charged(): Amount {
    return { creditNanos: this.charges.reduce((sum, { nanos }) => sum + nanos, 0n), byokNanos: 0n };
  }

  /** Opens the generation in the ledger without money, unless it is open. Rejects with LedgerUnavailable. */
  async open(row: () => JsonObject): Promise<void> {
    if (!this.#isOpen) await this.hold(row, () => NOTHING);
  }

  /**
   * Pays for something besides model calls; undefined = the limits are too low. `row`: as with `hold`. Rejects with
   * LedgerUnavailable, and after settlement has begun.
   */
  async charge(row: () => JsonObject, kind: ChargeKind, nanos: Nanos): Promise<PaidCharge | undefined> {
    const amount = { creditNanos: nanos, byokNanos: 0n };
    const outcome = await this.hold(row, ({ affordable }) =>
      isAffordable(amount, affordable) ? amount : null,
    );
    if (!outcome.ok) return undefined;
    this.#assertNotClosed();
    const charge = { kind, nanos };
    this.charges.push(charge);
    this.release(amount, amount);
    await this.#note();
    return { waive: () => this.#waive(charge) };
  }

  writeOff(writeOff: WriteOff): void {
    this.writeOffs = plusWriteOffs(this.writeOffs, [writeOff]);
  }

  /** Whether no limit covers the caller; opens the generation in the ledger then. `row`: as with `hold`. */
  async hasNoLimit(row: () => JsonObject): Promise<boolean> {
    const { ok } = await this.hold(row, ({ affordable }) => (isUnlimited(affordable) ? NOTHING : null));
    return ok && this.#isUnlimited;
  }

  /** Reserved, and neither spent nor held. */
  get free(): Amount {
    return beyond(this.#reserved, plus(this.#spent, this.#held));
  }

  /**
   * Holds money for a leg: free money if that is enough, else the rest is reserved with the ledger. `size` returns
   * how much, given what there is; null = too little. `row` returns the row of a generation that the ledger does not
   * know yet.
   */
  hold(row: () => JsonObject, size: (headroom: Headroom) => Amount | null): Promise<ReserveOutcome> {
    // Nearly always the only hold, which waits for no other.
    const holding = this.#holding === undefined ? this.#holdNow(row, size) : this.#holdNext(row, size);
    this.#holding = holding;
    return holding;
  }

  async #holdNext(
    row: () => JsonObject,
    size: (headroom: Headroom) => Amount | null,
  ): Promise<ReserveOutcome> {
    await this.#holding?.catch(() => {});
    return this.#holdNow(row, size);
  }

  #holdNow(row: () => JsonObject, size: (headroom: Headroom) => Amount | null): Promise<ReserveOutcome> {
    this.#assertNotClosed();
    return this.#maxNanos === undefined ? this.#holdWithLedger(row, size) : this.#holdWithinMax(row, size);
  }

  async #holdWithinMax(
    row: () => JsonObject,
    size: (headroom: Headroom) => Amount | null,
  ): Promise<ReserveOutcome> {
    try {
      return await this.#holdWithLedger(row, (headroom) => size(this.#withinMax(headroom)));
    } catch (error) {
      if (!(error instanceof BeyondMax)) throw error;
      // No answer names this limit: `isBoundByMax` says that it is the generation's own.
      const limitNanos = this.#maxNanos ?? 0n;
      return { ok: false, refusal: { scope: 'account', window: 'lifetime', limitNanos, leftNanos: 0n } };
    }
  }

  #holdWithLedger(
    row: () => JsonObject,
    size: (headroom: Headroom) => Amount | null,
  ): Promise<ReserveOutcome> {
    return this.#isOpen
      ? this.#holdMore(size)
      : this.#reserve(row(), size).then((outcome) => this.#opened(outcome));
  }

  /** Leaves the ledger, which has no limit to name if only the generation's own is too low. */
  #orBeyondMax(amount: Amount | null): Amount | null {
    if (amount === null && this.#maxNanos !== undefined && this.#isBoundByMax) throw new BeyondMax();
    return amount;
  }

  /** The headroom within the generation's own limit. Open legs may spend all that they hold. */
  #withinMax({ affordable, unspent }: Headroom): Headroom {
    const max = this.#maxNanos ?? 0n;
    const left = beyond({ creditNanos: max, byokNanos: 0n }, plus(this.#spent, this.#held)).creditNanos;
    const { creditNanos } = affordable;
    this.#isBoundByMax = creditNanos === null || left < creditNanos;
    const lower = (nanos: Nanos | null) => (nanos === null || left < nanos ? left : nanos);
    return {
      affordable: { ...affordable, creditNanos: lower(creditNanos) },
      unspent: { ...unspent, creditNanos: lower(unspent.creditNanos) },
    };
  }

  /** Settlement has begun: nothing more can be held or charged. */
  close(): void {
    this.#isClosed = true;
  }

  #assertNotClosed(): void {
    if (this.#isClosed) throw new Error('money was asked for after the end of a generation');
  }

  async #holdMore(size: (headroom: Headroom) => Amount | null): Promise<ReserveOutcome> {
    const { free } = this;
    const within = this.#isUnlimited ? null : size(onlyFree(free));
    if (within !== null && isWithin(within, free)) {
      this.#held = plus(this.#held, within);
      return { ok: true, reserved: within };
    }
    let wanted = NOTHING;
    const outcome = await this.#ledger.topUp(
      this.#input.generationId,
      (headroom) => {
        const amount = this.#orBeyondMax(size(withFree(headroom, free)));
        if (amount === null) return null;
        wanted = amount;
        return beyond(amount, free);
      },
      this.#now(),
    );
    if (outcome.ok) {
      this.#reserved = plus(this.#reserved, outcome.more);
      this.#held = plus(this.#held, wanted);
      return { ok: true, reserved: wanted };
    }
    if (outcome.refusal === null) throw new LedgerUnavailable('nothing more can be reserved at the moment');
    return { ok: false, refusal: outcome.refusal };
  }

  noteLeg(tokens: number, { creditNanos }: Amount): void {
    this.usedTokens += tokens;
    if (creditNanos > this.dearestLegNanos) this.dearestLegNanos = creditNanos;
  }

  /** Ends a hold, of which `spent` was used. */
  release(held: Amount, spent: Amount): void {
    this.#held = beyond(this.#held, held);
    this.#spent = plus(this.#spent, spent);
  }

  #note(): Promise<void> {
    if (this.noteProgress !== undefined) return this.noteProgress();
    const row = { legs: [], charges: chargeRows(this.charges) };
    return this.#ledger.checkpoint(this.#input.generationId, { used: this.charged, row, atMs: this.#now() });
  }

  async #waive(charge: Charge): Promise<void> {
    const at = this.charges.indexOf(charge);
    if (at === -1 || this.#isClosed) return;
    this.charges.splice(at, 1);
    this.#spent = beyond(this.#spent, { creditNanos: charge.nanos, byokNanos: 0n });
    await this.#note();
  }

  #reserve(row: JsonObject, size: (headroom: Headroom) => Amount | null): Promise<ReserveOutcome> {
    const { generationId, caller } = this.#input;
    const { scopes, limits } = caller;
    return this.#ledger.reserve({ scopes, limits, atMs: this.#now(), generationId, row }, (headroom) => {
      this.#isUnlimited = isUnlimited(headroom.affordable);
      return this.#orBeyondMax(size(headroom));
    });
  }

  #opened(outcome: ReserveOutcome): ReserveOutcome {
    if (!outcome.ok) return outcome;
    this.#isOpen = true;
    this.#reserved = outcome.reserved;
    this.#held = outcome.reserved;
    return outcome;
  }
}

function isAffordable(
  { creditNanos }: Amount,
  { creditNanos: credit, totalNanos: total }: Affordable,
): boolean {
  return (credit === null || creditNanos <= credit) && (total === null || creditNanos <= total);
}

/** The part of an amount beyond another, at least 0 on each side. */
function beyond(one: Amount, other: Amount): Amount {
  const { creditNanos, byokNanos } = minus(one, other);
  return { creditNanos: creditNanos > 0n ? creditNanos : 0n, byokNanos: byokNanos > 0n ? byokNanos : 0n };
}

function isWithin(one: Amount, other: Amount): boolean {
  return one.creditNanos <= other.creditNanos && one.byokNanos <= other.byokNanos;
}

function onlyFree({ creditNanos, byokNanos }: Amount): Headroom {
  const affordable = { creditNanos, totalNanos: creditNanos + byokNanos };
  return { affordable, unspent: affordable };
}

/** The remaining limits plus the free money, which the limits count as reserved. */
function withFree({ affordable, unspent }: Headroom, free: Amount): Headroom {
  const more = ({ creditNanos, totalNanos }: Affordable): Affordable => ({
    creditNanos: creditNanos === null ? null : creditNanos + free.creditNanos,
    totalNanos: totalNanos === null ? null : totalNanos + free.creditNanos + free.byokNanos,
  });
  return { affordable: more(affordable), unspent: more(unspent) };
}
