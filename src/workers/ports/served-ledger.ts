import type { GenerationLedger, Headroom } from '../../ports/ledger.ts';
import type { LedgerCalls } from './remote-ledger.ts';
import { mayReserve, type ReservationWish, type UnmetWish } from './reservation-wish.ts';

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

  reserve: LedgerCalls['reserve'] = async (generation, wish) => {
    const { generationId } = generation;
    const outcome = await orUnmet(() =>
      this.#ledger.reserve(generation, (headroom) => granted(wish, headroom)),
    );
    if ('ok' in outcome && outcome.ok) {
      if (this.#isGone) void this.#settleInterrupted([generationId]);
      else this.#open.add(generationId);
    }
    return outcome;
  };

  topUp: LedgerCalls['topUp'] = (generationId, wish, atMs) =>
    orUnmet(() => this.#ledger.topUp(generationId, (headroom) => granted(wish, headroom), atMs));

  checkpoint: LedgerCalls['checkpoint'] = (generationId, use) => this.#ledger.checkpoint(generationId, use);

  settle: LedgerCalls['settle'] = (generationId, use) => {
    // Also if it rejects: then the record follows as soon as it can be written.
    this.#open.delete(generationId);
    return this.#ledger.settle(generationId, use);
  };

  void: LedgerCalls['void'] = (generationId, atMs) => {
    this.#open.delete(generationId);
    return this.#ledger.void(generationId, atMs);
  };

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

async function orUnmet<Outcome>(work: () => Promise<Outcome>): Promise<Outcome | UnmetWish> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Unmet) return { headroom: error.headroom };
    throw error;
  }
}
