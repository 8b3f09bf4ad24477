import type { Amount } from '../../ir/amount.ts';
import { RecentMap } from '../../kit/collections/recent-map.ts';
import type {
  FinalCharge,
  GenerationLedger,
  Headroom,
  Ledger,
  NewGeneration,
  ReserveOutcome,
  TopUpOutcome,
  Use,
} from '../../ports/money/ledger.ts';
import type { ReservationWish, UnmetWish } from './reservation-wish.ts';
import { type WithRowText, withRowText } from './row-text.ts';

/** The ledger of the owner as workers call it: sizes are wishes, because functions cannot be sent. Rows are text. */
export interface LedgerCalls extends Pick<Ledger, 'void'> {
  /** Without a wish, the headroom is asked for. */
  reserve(
    generation: WithRowText<NewGeneration>,
    wish: ReservationWish | undefined,
  ): Promise<ReserveOutcome | UnmetWish>;
  topUp(
    generationId: string,
    wish: ReservationWish | undefined,
    atMs: number,
  ): Promise<TopUpOutcome | UnmetWish>;
  checkpoint(generationId: string, use: WithRowText<Use>): Promise<void>;
  settle(generationId: string, use: WithRowText<Use>): Promise<FinalCharge>;
}

type Size = (headroom: Headroom) => Amount | null;

/** Tries after which the ledger decides by the amount alone: others may take the money between two tries for ever. */
const MAX_TRIES = 4;

/** Keys whose last headroom is remembered. */
const REMEMBERED_KEYS = 20_000;

/**
 * The ledger in a worker. A reservation is sized here and decided by the owner: mostly in one round trip, because the
 * headroom of the key's last reservation tells which size to ask for. If it has changed so much that the size would
 * differ, the owner answers with the current one.
 */
export class RemoteLedger implements GenerationLedger {
  readonly #calls: LedgerCalls;
  /** The last headroom by the hash of the key. */
  readonly #lastHeadroom = new RecentMap<string, Headroom>(REMEMBERED_KEYS);

  constructor(calls: LedgerCalls) {
    this.#calls = calls;
  }

  reserve(generation: NewGeneration, size: Size): Promise<ReserveOutcome> {
    const { key } = generation.scopes;
    const sent = withRowText(generation);
    return this.#negotiate(
      size,
      this.#lastHeadroom.get(key),
      (wish) => this.#calls.reserve(sent, wish),
      (headroom) => this.#lastHeadroom.set(key, headroom),
    );
  }

  topUp(generationId: string, size: Size, atMs: number): Promise<TopUpOutcome> {
    return this.#negotiate(size, undefined, (wish) => this.#calls.topUp(generationId, wish, atMs));
  }

  checkpoint(generationId: string, use: Use): Promise<void> {
    return this.#calls.checkpoint(generationId, withRowText(use));
  }

  settle(generationId: string, use: Use): Promise<FinalCharge> {
    return this.#calls.settle(generationId, withRowText(use));
  }

  void(generationId: string, atMs: number): Promise<void> {
    return this.#calls.void(generationId, atMs);
  }

  /** Asks with a size for the remembered headroom, then with sizes for those that the owner answers. */
  async #negotiate<Outcome extends object>(
    size: Size,
    remembered: Headroom | undefined,
    ask: (wish: ReservationWish | undefined) => Promise<Outcome | UnmetWish>,
    learn: (headroom: Headroom) => void = () => {},
  ): Promise<Outcome> {
    let wish = remembered && firstWish(remembered, size);
    for (let tries = 1; ; tries++) {
      const answer = await ask(wish);
      if (!('headroom' in answer)) return answer;
      const { headroom } = answer;
      learn(headroom);
      wish = { amount: size(headroom), seen: headroom, isFresh: true, isLast: tries >= MAX_TRIES };
    }
  }
}

/** A refusal is never decided by a remembered headroom: there may be money by now. */
function firstWish(remembered: Headroom, size: Size): ReservationWish | undefined {
  const amount = size(remembered);
  return amount === null ? undefined : { amount, seen: remembered, isFresh: false, isLast: false };
}
