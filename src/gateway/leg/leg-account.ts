import { FREE } from '../../catalog/prices/bill.ts';
import type { GatewayError } from '../../ir/errors.ts';
import { hasOutput, type Result } from '../../ir/result.ts';
import { type Bill, NO_USAGE, type Usage } from '../../ir/usage.ts';
import type { Nanos } from '../../kit/money.ts';
import { plusWriteOffs, type WriteOff, type WriteOffCause } from '../../ports/money/write-offs.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { type LostAnswer, UpstreamFailure } from '../../upstream/upstream.ts';
import { type BillingFacts, billGeneration, billTools, hasKnownPrices } from './bill-generation.ts';
import { isGatewayLimit } from './blame.ts';

export interface UsedSoFar {
  readonly usage: Usage;
  readonly bill: Bill;
}

/** Final usage and bill of a leg, or of a whole generation. */
export interface LegAccount extends UsedSoFar {
  /** Cost that the upstream may bill beyond the charge; absent = none. */
  readonly uncharged?: readonly WriteOff[] | undefined;
}

/**
 * How an answer ended: by itself, because the caller left, because the gateway ended it (a stage gave it up, or the
 * reservation was used up), or with a failure.
 */
export type AnswerEnd = 'whole' | 'left' | 'cut' | GatewayError;

export interface LegAccountFacts {
  /** The serving candidate, once there is content. */
  readonly selected: Candidate | undefined;
  /** The candidate whose call was open at the end. */
  readonly calling: Candidate | undefined;
  readonly billing: BillingFacts;
  /** The reported usage, or undefined if it is not plausible. */
  readonly believe: (reported: Usage | undefined) => Usage | undefined;
  /** False if no model can have used what is reported, so that it says nothing of the bill. */
  readonly isConceivable: (reported: Usage) => boolean;
  /** True if the parts that an upstream delivered before it failed are charged: each was complete. */
  readonly chargesParts: boolean;
  /** Estimates a usage that the upstream did not report. */
  readonly estimate: (result: Result) => Promise<Usage>;
  /** An estimate of visible output, with the thoughts that were presumably made before it. */
  readonly withThoughts: (estimated: Usage, result: Result) => Usage;
  /** The most that the upstream of a candidate may bill the operator for one call. */
  readonly worst: (called: Candidate) => Promise<Nanos>;
}

/**
 * The account of a leg: by the upstream's report if it covers everything, else by our own count, with the thoughts that
 * an answer without any report presumably has.
 */
export function legAccount(
  result: Result,
  end: AnswerEnd,
  facts: LegAccountFacts,
): LegAccount | Promise<LegAccount> {
  if (end !== 'whole') return cutAccount(result, end, facts);
  const reported = facts.believe(result.usage);
  if (reported?.source === 'measured') return accountFor(reported, result, facts);
  return facts.estimate(result).then((counted) => {
    const estimated = result.usage === undefined ? facts.withThoughts(counted, result) : counted;
    return accountFor(atLeast(reported, estimated), result, facts);
  });
}

/** Prices a usage. What the upstream reported beyond it is disputed, and may be billed to the gateway. */
function accountFor(usage: Usage, result: Result, facts: LegAccountFacts): LegAccount | Promise<LegAccount> {
  const { selected, billing } = facts;
  const bill = billGeneration(selected, usage, billing, result.finish?.serviceTier);
  if (isUnexplained(usage, result)) {
    return { usage, bill: FREE, uncharged: writeOff('dropped', bill.isByok ? 0n : bill.totalNanos) };
  }
  if (result.usage === undefined || result.usage === usage) {
    const isExact = hasKnownPrices(selected, usage, billing);
    return { usage: isExact ? usage : { ...usage, source: 'estimated' }, bill };
  }
  if (isUnexplained(result.usage, result)) return { usage, bill };
  return disputedAccount({ usage, bill }, result.usage, result, facts);
}

/**
 * The account by our own count, without what the upstream may bill beyond it: what its report says, or, if no model can
 * have used that, the most that the call may cost.
 */
async function disputedAccount(
  counted: UsedSoFar,
  reported: Usage,
  result: Result,
  facts: LegAccountFacts,
): Promise<LegAccount> {
  const { selected, calling, billing } = facts;
  const called = selected ?? calling;
  const most =
    called !== undefined && !facts.isConceivable(reported)
      ? await facts.worst(called)
      : billGeneration(selected, reported, billing, result.finish?.serviceTier).totalNanos;
  return { ...counted, uncharged: writeOff('disputed', most - counted.bill.totalNanos) };
}

/**
 * The account of an answer that did not reach its end. What was produced is charged, unless the upstream failed; what
 * the upstream may bill beyond that is written off.
 */
async function cutAccount(
  result: Result,
  end: Exclude<AnswerEnd, 'whole'>,
  facts: LegAccountFacts,
): Promise<LegAccount> {
  const reported = facts.believe(result.usage);
  const produced: LegAccount = hasOutput(result)
    ? await accountFor(
        atLeast(reported, facts.withThoughts(await facts.estimate(result), result)),
        result,
        facts,
      )
    : { usage: reported ?? NO_USAGE, bill: FREE };
  const { usage } = produced;
  const isCharged = typeof end === 'string' || facts.chargesParts || isOurs(end);
  const bill = isCharged ? produced.bill : toolBill(usage, facts);
  const beyond = (await mostBilled(end, produced, facts)) - bill.totalNanos;
  return { usage, bill, uncharged: plusWriteOffs(produced.uncharged, writeOff(causeOf(end), beyond)) };
}

/**
 * The most that the upstream may bill: what it reported if it said that it failed, else its worst cost. Of answers in
 * parts, each was reported.
 */
async function mostBilled(
  end: Exclude<AnswerEnd, 'whole'>,
  { usage, bill }: UsedSoFar,
  facts: LegAccountFacts,
): Promise<Nanos> {
  const { calling, chargesParts } = facts;
  if (calling === undefined || bill.isByok) return 0n;
  const hasFailed = end instanceof UpstreamFailure && end.lostBy === undefined;
  const isReported = hasFailed && (chargesParts || usage.source === 'measured');
  const most = isReported ? 0n : await facts.worst(calling);
  return most > bill.totalNanos ? most : bill.totalNanos;
}

const LOST_CAUSES: Readonly<Record<LostAnswer, WriteOffCause>> = {
  'time-limit': 'time_limit',
  'broken-off': 'dropped',
};

/** Why the bill of an answer that did not reach its end is not charged. */
export function causeOf(end: Exclude<AnswerEnd, 'whole'>): WriteOffCause {
  if (end === 'left') return 'abandoned';
  if (end === 'cut') return 'cut';
  if (end instanceof UpstreamFailure) return LOST_CAUSES[end.lostBy ?? 'broken-off'];
  return end.kind === 'deadline' ? 'time_limit' : 'cut';
}

function writeOff(cause: WriteOffCause, nanos: Nanos): readonly WriteOff[] | undefined {
  return nanos > 0n ? [{ cause, nanos }] : undefined;
}

/** The bill of an answer that its upstream broke off: tokens are free, what its tools did is not. */
function toolBill(usage: Usage, { selected, billing }: LegAccountFacts): Bill {
  return billTools(selected, usage, billing);
}

/** True if the gateway ended the answer: the upstream did nothing wrong, and its output was forwarded. */
function isOurs(error: GatewayError): boolean {
  return error instanceof UpstreamFailure ? error.isCutByUs : isGatewayLimit(error);
}

/**
 * The higher of both counts. Usage reported in the middle of an answer does not cover later text, so our own count may
 * be higher. A report of zero tokens is only an initial value.
 */
function atLeast(reported: Usage | undefined, estimated: Usage): Usage {
  if (reported === undefined || reported.inputTokens + reported.outputTokens === 0) return estimated;
  const outputTokens = Math.max(reported.outputTokens, estimated.outputTokens);
  const webSearchRequests = Math.max(reported.webSearchRequests, estimated.webSearchRequests);
  if (outputTokens === reported.outputTokens && webSearchRequests === reported.webSearchRequests)
    return reported;
  return { ...reported, outputTokens, webSearchRequests, source: 'estimated' };
}

/** True if there is no output and nothing that explains its absence: such an answer is free. */
function isUnexplained(usage: Usage, result: Result): boolean {
  return !hasOutput(result) && usage.outputTokens === 0 && result.finish?.nativeReason === undefined;
}
