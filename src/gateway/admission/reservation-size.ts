import { type Amount, atLeast, NOTHING } from '../../ir/amount.ts';
import type { Affordable, Headroom } from '../../ports/ledger.ts';
import type { WorstCost } from './worst-cost.ts';

/** How much is reserved for a request. */
export interface ReservationSize {
  readonly amount: Amount;
  /** `open`: nothing binds; `whole`: all that it may cost; `rest`: less, and the call limits the output to it. */
  readonly kind: 'open' | 'whole' | 'rest';
  /** Output below which an answer is not worth beginning, tokens. */
  readonly leastTokens: number;
}

/** Room for answers that turn out longer than the ones before. */
const LEARNT_ROOM = 8;

/** Of what is left, the share that one request may take at least: others may be on their way. */
const SHARE = 2n;

/** Output below which an answer of which nothing is known is not worth beginning, tokens. */
const MIN_OUTPUT_TOKENS = 16;

/**
 * How much to reserve, given what there is. Null: too little. `learntTokens`: the longest of the answers that this key had
 * from this model lately; undefined = none yet.
 *
 * Where the money reaches for the longest answer that any candidate may write, that is reserved. Where it does not reach,
 * the answer is told to stay within what is reserved. Of what is left, a request whose answers were short so far takes as
 * much as several of them, or half: the next one, at the same time, half of the rest. One of which nothing is known takes
 * all, but only of money that is really left: where other requests hold what it needs it is refused, or they would divide
 * the rest between them until none could be finished.
 *
 * A stream is never begun with less in the hope of more: what a model thinks without saying it, or says in one piece, is
 * billed before anything could be reserved for it.
 */
export function sizeReservation(
  costs: readonly WorstCost[],
  { affordable, unspent }: Headroom,
  learntTokens: number | undefined,
): ReservationSize | null {
  const learntRoom = learntTokens === undefined ? undefined : learntTokens * LEARNT_ROOM;
  const leastTokens = learntTokens ?? MIN_OUTPUT_TOKENS;
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
  // Fee and list price are rounded each by itself: what is reserved has to pay for a candidate in the end.
  return payable.some((cost) => canPay(cost, amount, leastTokens))
    ? { amount, kind: 'rest', leastTokens }
    : null;
}

/** Whether an amount pays for all that a candidate may write, or for an answer that is worth beginning. */
export function canPay(cost: WorstCost, amount: Amount, leastTokens: number): boolean {
  return cost.tokensWithin(amount) >= Math.min(cost.fullTokens, leastTokens);
}

/** Output tokens of one candidate that can be paid for; -1 when not even the prompt can. */
export function tokensWithin(cost: WorstCost, { creditNanos, totalNanos }: Affordable): number {
  const most = creditNanos ?? totalNanos;
  const total = totalNanos ?? creditNanos;
  if (most === null || total === null) return cost.fullTokens;
  const credit = most < total ? most : total;
  // With a BYOK credential the fee and the list price share what is left in all.
  const sample = cost.amountOf(cost.fullTokens);
  const whole = sample.creditNanos + sample.byokNanos;
  const byok =
    totalNanos === null ? sample.byokNanos : whole === 0n ? total : (total * sample.byokNanos) / whole;
  return cost.tokensWithin({ creditNanos: credit, byokNanos: byok });
}

/** What whichever of them may cost: `tokens` of output, or all that it can write. */
function dearest(costs: readonly WorstCost[], tokens = Number.POSITIVE_INFINITY): Amount {
  let most = NOTHING;
  for (const cost of costs) most = atLeast(most, cost.amountOf(Math.min(cost.fullTokens, tokens)));
  return most;
}

/** The first one is paid as far as the money goes, others are where it reaches for them too. */
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
    creditNanos: creditNanos === null ? null : creditNanos / SHARE,
    totalNanos: totalNanos === null ? null : totalNanos / SHARE,
  };
}

function clipped(wanted: Amount, { creditNanos: credit, totalNanos: total }: Affordable): Amount {
  const whole = wanted.creditNanos + wanted.byokNanos;
  const isOver = total !== null && whole > total;
  // Both sides give way in proportion: fee and list price belong together.
  const scaled = (nanos: bigint) => (isOver && total !== null ? (nanos * total) / whole : nanos);
  const credits = scaled(wanted.creditNanos);
  return {
    creditNanos: credit !== null && credits > credit ? credit : credits,
    byokNanos: scaled(wanted.byokNanos),
  };
}

/** Whether nothing binds. */
export function isUnlimited({ creditNanos, totalNanos }: Affordable): boolean {
  return creditNanos === null && totalNanos === null;
}

function fits(
  { creditNanos, byokNanos }: Amount,
  { creditNanos: credit, totalNanos: total }: Affordable,
): boolean {
  return (credit === null || creditNanos <= credit) && (total === null || creditNanos + byokNanos <= total);
}
