import { FREE } from '../../catalog/prices/bill.ts';
import type { GatewayError } from '../../ir/errors.ts';
import { hasOutput, type Result } from '../../ir/result.ts';
import { type Bill, NO_USAGE, type Usage } from '../../ir/usage.ts';
import type { Nanos } from '../../kit/money.ts';
import type { WriteOff, WriteOffCause } from '../../ports/write-offs.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import { type BillingFacts, billGeneration, billTools } from './bill-generation.ts';
import { isGatewayLimit } from './blame.ts';

/** Usage and bill of a leg, or of a whole generation, so far. */
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
 * How an answer ended: by itself, in the middle (the caller left, or the reservation was used up), or with a failure.
 */
export type AnswerEnd = 'whole' | 'cut' | GatewayError;

/** Facts for the account of a leg besides its answer. */
export interface LegAccountFacts {
  /** The serving candidate, once there is content. */
  readonly selected: Candidate | undefined;
  /** The candidate called last, whatever its outcome. */
  readonly called: Candidate | undefined;
  /** Approximate tokens of the prompt. */
  readonly promptTokens: number;
  readonly billing: BillingFacts;
  /** The reported usage, or undefined if it is not plausible. */
  readonly believe: (reported: Usage | undefined) => Usage | undefined;
  /** True if the parts that an upstream delivered before it failed are charged: each was complete. */
  readonly chargesParts: boolean;
  /** Estimates a usage that the upstream did not report. */
  readonly estimate: (result: Result) => Promise<Usage>;
}

/** The account of a leg: by the upstream's report if it covers everything, else by our own count. */
export async function legAccount(
  result: Result,
  end: AnswerEnd,
  facts: LegAccountFacts,
): Promise<LegAccount> {
  if (end !== 'whole') return cutAccount(result, end === 'cut' ? undefined : end, facts);
  const reported = facts.believe(result.usage);
  if (reported?.source !== 'measured') return estimatedAccount(result, reported, facts);
  return accountFor(reported, result, facts);
}

/** Prices a usage. What the upstream reported beyond it is disputed, and may be billed to the gateway. */
function accountFor(usage: Usage, result: Result, facts: LegAccountFacts): LegAccount {
  const bill = billFor(usage, result, facts);
  if (result.usage === undefined || result.usage === usage) return { usage, bill };
  const beyond = billFor(result.usage, result, facts).totalNanos - bill.totalNanos;
  return { usage, bill, uncharged: writeOff('disputed', beyond) };
}

/** The account of an answer without a usage report, or with one that does not cover everything. */
async function estimatedAccount(
  result: Result,
  reported: Usage | undefined,
  facts: LegAccountFacts,
): Promise<LegAccount> {
  return accountFor(atLeast(reported, await facts.estimate(result)), result, facts);
}

/** The account of an answer that was cut off. */
async function cutAccount(
  result: Result,
  failure: GatewayError | undefined,
  facts: LegAccountFacts,
): Promise<LegAccount> {
  const reported = facts.believe(result.usage);
  if (!hasOutput(result)) {
    const usage = reported ?? NO_USAGE;
    return { usage, bill: FREE, uncharged: failure === undefined ? abandoned(usage, facts) : undefined };
  }
  const account = await estimatedAccount(result, reported, facts);
  const isCharged = failure === undefined || facts.chargesParts || isOurs(failure);
  return isCharged ? account : { usage: account.usage, bill: toolBill(account.usage, facts) };
}

/** Output that was not delivered is not charged. The upstream has read the prompt and may bill that. */
function abandoned(
  reported: Usage,
  { called, billing, promptTokens }: LegAccountFacts,
): readonly WriteOff[] | undefined {
  if (called === undefined) return undefined;
  const usage = reported.source === 'none' ? { ...reported, inputTokens: promptTokens } : reported;
  const { totalNanos: nanos } = billGeneration(called, usage, billing);
  return writeOff('abandoned', nanos);
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

/** Free if there is no output and nothing that explains its absence. */
function billFor(usage: Usage, result: Result, { selected, billing }: LegAccountFacts): Bill {
  const isUnexplained =
    !hasOutput(result) && usage.outputTokens === 0 && result.finish?.nativeReason === undefined;
  return isUnexplained ? FREE : billGeneration(selected, usage, billing, result.finish?.serviceTier);
}
