import { type Amount, atLeast, NOTHING } from '../../ir/amount.ts';
import type { Affordable, Headroom } from '../../ports/money/ledger.ts';
import type { WorstCost } from './worst-cost.ts';

export interface ReservationSize {
  readonly amount: Amount;
  /** `open`: no limit applies; `whole`: the whole worst cost; `rest`: less, and the call limits the output to it. */
  readonly kind: 'open' | 'whole' | 'rest';
  /** Output tokens below which an answer is not worth beginning. */
  readonly leastTokens: number;
}

/** Reserve for answers this many times as long as the longest recent one. */
const HISTORY_FACTOR = 8;

/** A request may always take this fraction (1 / n) of the remaining money; the rest is left to others. */
const SHARE_DIVISOR = 2n;

/** Output tokens below which an answer is not worth beginning if no earlier answer is known. */
const MIN_OUTPUT_TOKENS = 16;

/**
 * How much to reserve within the headroom; null = too little. `learntTokens`: length of the longest recent answer of
 * this model to this key; undefined = none yet. `mayBeShort`: an answer shorter than that is better than none.
 *
 * - The money pays for the longest answer of every candidate: that is reserved.
 * - It does not, and answers were short so far: several times their length, or half of the remaining money if that is
 *   more. The call limits the output to it. A request at the same time takes half of the rest.
 * - It does not, and no answer is known: all remaining money, unless other requests hold what it needs. Then it is
 *   refused, because sharing the rest would leave no request able to finish.
 *
 * A stream is never begun with less in the hope of more: hidden reasoning, and output in one piece, is billed before
 * anything could be reserved for it.
 */
export function sizeReservation(
  costs: readonly WorstCost[],
  { affordable, unspent }: Headroom,
  learntTokens: number | undefined,
  mayBeShort = false,
): ReservationSize | null {
  const learntRoom = learntTokens === undefined ? undefined : learntTokens * HISTORY_FACTOR;
  const usualTokens = learntTokens ?? MIN_OUTPUT_TOKENS;
  const leastTokens = mayBeShort ? Math.min(usualTokens, MIN_OUTPUT_TOKENS) : usualTokens;
  const full = dearest(costs);
  if (isUnlimited(affordable)) return { amount: full, kind: 'open', leastTokens };
  if (fits(full, affordable)) return { amount: full, kind: 'whole', leastTokens };
  const payable = costs.filter((cost) => {
    const isHeld = fits(cost.amountOf(cost.fullTokens), unspent);
    const least = learntTokens === undefined && isHeld ? cost.fullTokens : leastTokens;
    return tokensWithin(cost, affordable) >= Math.min(cost.fullTokens, least);
  });
  if (payable.length === 0) return null;
  const amount = withinReach(payable, learntRoom, affordable);
  // Fee and list price are rounded separately, so check that the amount still pays for a candidate.
  return payable.some((cost) => canPay(cost, amount, leastTokens))
    ? { amount, kind: 'rest', leastTokens }
    : null;
}

/** Pays for the shortest answer of a candidate that is worth beginning. */
export function leastAmountOf(cost: WorstCost): Amount {
  return cost.amountOf(Math.min(cost.fullTokens, MIN_OUTPUT_TOKENS));
}

/** True if an amount pays for all output of a candidate, or for an answer that is worth beginning. */
export function canPay(cost: WorstCost, amount: Amount, leastTokens: number): boolean {
  return cost.tokensWithin(amount) >= Math.min(cost.fullTokens, leastTokens);
}

/** Output tokens of one candidate that the money pays for; -1 if it does not even pay for the prompt. */
export function tokensWithin(cost: WorstCost, { creditNanos, totalNanos }: Affordable): number {
  const most = creditNanos ?? totalNanos;
  const total = totalNanos ?? creditNanos;
  if (most === null || total === null) return cost.fullTokens;
  const credit = most < total ? most : total;
  // With a BYOK credential the fee and the list price share one limit.
  const sample = cost.amountOf(cost.fullTokens);
  const whole = sample.creditNanos + sample.byokNanos;
  const byok =
    totalNanos === null ? sample.byokNanos : whole === 0n ? total : (total * sample.byokNanos) / whole;
  return cost.tokensWithin({ creditNanos: credit, byokNanos: byok });
}

/** The highest cost of the candidates for `tokens` of output, or for all that each can write. */
function dearest(costs: readonly WorstCost[], tokens = Number.POSITIVE_INFINITY): Amount {
  let most = NOTHING;
  for (const cost of costs) most = atLeast(most, cost.amountOf(Math.min(cost.fullTokens, tokens)));
  return most;
}

/** Pays for the first candidate as far as possible, and for the others if the money is enough for them too. */
function withinReach(
  payable: readonly WorstCost[],
  tokens: number | undefined,
  affordable: Affordable,
): Amount {
  const [first, ...others] = payable;
  if (first === undefined) return NOTHING;
  const whole = dearest([first]);
  const wanted =
    tokens === undefined ? whole : atLeast(dearest([first], tokens), clipped(whole, shareOf(affordable)));
  let amount = clipped(wanted, affordable);
  for (const cost of others) {
    const more = atLeast(amount, dearest([cost], tokens));
    if (fits(more, affordable)) amount = more;
  }
  return amount;
}

function shareOf({ creditNanos, totalNanos }: Affordable): Affordable {
  return {
    creditNanos: creditNanos === null ? null : creditNanos / SHARE_DIVISOR,
    totalNanos: totalNanos === null ? null : totalNanos / SHARE_DIVISOR,
  };
}

function clipped(wanted: Amount, { creditNanos: credit, totalNanos: total }: Affordable): Amount {
  const whole = wanted.creditNanos + wanted.byokNanos;
  const isOver = total !== null && whole > total;
  // Both sides are reduced in proportion: fee and list price belong together.
  const scaled = (nanos: bigint) => (isOver && total !== null ? (nanos * total) / whole : nanos);
  const credits = scaled(wanted.creditNanos);
  return {
    creditNanos: credit !== null && credits > credit ? credit : credits,
    byokNanos: scaled(wanted.byokNanos),
  };
}

export function isUnlimited({ creditNanos, totalNanos }: Affordable): boolean {
  return creditNanos === null && totalNanos === null;
}

export function isSpent({ creditNanos, totalNanos }: Affordable): boolean {
  return (creditNanos !== null && creditNanos <= 0n) || (totalNanos !== null && totalNanos <= 0n);
}

function fits(
  { creditNanos, byokNanos }: Amount,
  { creditNanos: credit, totalNanos: total }: Affordable,
): boolean {
  return (credit === null || creditNanos <= credit) && (total === null || creditNanos + byokNanos <= total);
}
