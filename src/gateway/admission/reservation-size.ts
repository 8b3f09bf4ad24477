import { type Amount, atLeast, NOTHING } from '../../ir/amount.ts';
import type { Affordable, Headroom } from '../../ports/ledger.ts';
import type { WorstCost } from './worst-cost.ts';

/** What is known of the answer besides what it may cost. */
export interface SizingFacts {
  /** The longest of the answers that this key had from this model lately, tokens; undefined = none yet. */
  readonly learntTokens: number | undefined;
  /** More can be reserved while the answer comes in. */
  readonly canTopUp: boolean;
}

/** How much is reserved for a request. */
export interface ReservationSize {
  readonly amount: Amount;
  /** `open`: nothing binds; `whole`: all that it may cost; `begun`: more is reserved as it comes in; `rest`: what is left. */
  readonly kind: 'open' | 'whole' | 'begun' | 'rest';
}

/** Room for answers that turn out longer than the ones before. */
const LEARNT_ROOM = 8;

/** Output that is always worth reserving, where there is the money, tokens. */
const LEAST_ROOM = 1024;

/** Output below which an answer is not worth beginning, tokens. */
export const LEAST_OUTPUT = 16;

/**
 * How much to reserve, given what there is. Null: too little.
 *
 * Where the money reaches for the longest answer that anybody may write, that is reserved; streams of which short answers
 * are known begin with less and reserve more as they go. Where it does not reach, what matters is whether the money is gone
 * or only held by other requests. Gone: an answer that was short so far, or of which nothing is known, gets what is left
 * and is told to stay within it. Held: only one that was short so far; the others would divide the rest between them
 * until none could be finished.
 */
export function sizeReservation(
  costs: readonly WorstCost[],
  { affordable, unspent }: Headroom,
  { learntTokens, canTopUp }: SizingFacts,
): ReservationSize | null {
  const learntRoom = learntTokens === undefined ? undefined : roomFor(learntTokens);
  const full = dearest(costs);
  if (isUnlimited(affordable)) return { amount: full, kind: 'open' };
  if (fits(full, affordable)) {
    const amount = canTopUp ? dearest(costs, learntRoom) : full;
    return { amount, kind: isLess(amount, full) ? 'begun' : 'whole' };
  }
  const payable = costs.filter((cost) => {
    const isHeld = fits(cost.amountOf(cost.fullTokens), unspent);
    const least = learntTokens ?? (isHeld ? cost.fullTokens : LEAST_OUTPUT);
    return tokensWithin(cost, affordable) >= Math.min(cost.fullTokens, least);
  });
  if (payable.length === 0) return null;
  return { amount: withinReach(payable, learntRoom, affordable), kind: 'rest' };
}

/** Output tokens of one candidate that can be paid for; -1 when not even the prompt can. */
export function tokensWithin(cost: WorstCost, { creditNanos, totalNanos }: Affordable): number {
  const most = creditNanos ?? totalNanos;
  const total = totalNanos ?? creditNanos;
  if (most === null || total === null) return cost.fullTokens;
  const credit = most < total ? most : total;
  // With an own credential the fee and the list price share what is left in all.
  const sample = cost.amountOf(cost.fullTokens);
  const whole = sample.creditNanos + sample.byokNanos;
  const byok =
    totalNanos === null ? sample.byokNanos : whole === 0n ? total : (total * sample.byokNanos) / whole;
  return cost.tokensWithin({ creditNanos: credit, byokNanos: byok });
}

function roomFor(learntTokens: number): number {
  return Math.max(LEAST_ROOM, learntTokens * LEARNT_ROOM);
}

/** What whichever of them may cost: `tokens` of output, or all that it can write. */
function dearest(costs: readonly WorstCost[], tokens = Number.POSITIVE_INFINITY): Amount {
  return costs.reduce<Amount>(
    (most, cost) => atLeast(most, cost.amountOf(Math.min(cost.fullTokens, tokens))),
    NOTHING,
  );
}

/** The first one is paid as far as the money goes, others are where it reaches for them too. */
function withinReach(
  payable: readonly WorstCost[],
  tokens: number | undefined,
  affordable: Affordable,
): Amount {
  const [first, ...others] = payable;
  if (first === undefined) return NOTHING;
  let amount = clipped(dearest([first], tokens), affordable);
  for (const cost of others) {
    const more = atLeast(amount, dearest([cost], tokens));
    if (fits(more, affordable)) amount = more;
  }
  return amount;
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

function isUnlimited({ creditNanos, totalNanos }: Affordable): boolean {
  return creditNanos === null && totalNanos === null;
}

function fits(
  { creditNanos, byokNanos }: Amount,
  { creditNanos: credit, totalNanos: total }: Affordable,
): boolean {
  return (credit === null || creditNanos <= credit) && (total === null || creditNanos + byokNanos <= total);
}

function isLess(one: Amount, other: Amount): boolean {
  return one.creditNanos < other.creditNanos || one.byokNanos < other.byokNanos;
}
