import type { GenerationLedger, Headroom, NewGeneration, Use } from '../../ports/money/ledger.ts';
import type { LedgerCalls } from './remote-ledger.ts';
import { mayReserve, type ReservationWish, type UnmetWish } from './reservation-wish.ts';
import { withRow } from './row-text.ts';

/** Leaves the ledger: the wish does not suit the headroom. */
class Unmet extends Error {
  readonly headroom: Headroom;

  constructor(headroom: Headroom) {
    super('the reservation must be sized for another headroom');
    this.headroom = headroom;
  }
}

/** Settles open generations by their last checkpoints, because the process that ran them is gone. Never rejects. */
export type SettleInterrupted = (generationIds: readonly string[]) => Promise<void>;

/** The owner's ledger for one worker. Knows the worker's open generations, and settles them when the worker is gone. */
export class ServedLedger implements LedgerCalls {
  readonly #ledger: GenerationLedger;
  readonly #settleInterrupted: SettleInterrupted;
  readonly #open = new Set<string>();
  #isGone = false;

  constructor(ledger: GenerationLedger, settleInterrupted: SettleInterrupted) {
    this.#ledger = ledger;
    this.#settleInterrupted = settleInterrupted;
  }

  /** Generations of the worker that are accepted and not settled. */
  get open(): number {
    return this.#open.size;
  }

  reserve: LedgerCalls['reserve'] = (sent, wish) =>
    this.#ledger
      .reserve(withRow<NewGeneration>(sent), (headroom) => granted(wish, headroom))
      .then((outcome) => {
        if (outcome.ok) this.#opened(sent.generationId);
        return outcome;
      }, unmetOf);

  topUp: LedgerCalls['topUp'] = (generationId, wish, atMs) =>
    this.#ledger.topUp(generationId, (headroom) => granted(wish, headroom), atMs).catch(unmetOf);

  checkpoint: LedgerCalls['checkpoint'] = (generationId, use) =>
    this.#ledger.checkpoint(generationId, withRow<Use>(use));

  settle: LedgerCalls['settle'] = (generationId, use) => {
    // Also if it rejects: then the record follows as soon as it can be written.
    this.#open.delete(generationId);
    return this.#ledger.settle(generationId, withRow<Use>(use));
  };

  void: LedgerCalls['void'] = (generationId, atMs) => {
    this.#open.delete(generationId);
    return this.#ledger.void(generationId, atMs);
  };

  #opened(generationId: string): void {
    if (this.#isGone) void this.#settleInterrupted([generationId]);
    else this.#open.add(generationId);
  }

  /** The worker is gone: settles what it left open. */
  async workerGone(): Promise<void> {
    this.#isGone = true;
    const left = [...this.#open];
    this.#open.clear();
    if (left.length > 0) await this.#settleInterrupted(left);
  }
}

function granted(wish: ReservationWish | undefined, headroom: Headroom): ReservationWish['amount'] {
  if (wish === undefined || !mayReserve(wish, headroom)) throw new Unmet(headroom);
  return wish.amount;
}

function unmetOf(error: unknown): UnmetWish {
  if (error instanceof Unmet) return { headroom: error.headroom };
  throw error;
}
