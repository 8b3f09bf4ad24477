import { FREE } from '../../catalog/prices/bill.ts';
import type { GatewayError } from '../../ir/errors.ts';
import { isBlank, type Result } from '../../ir/result.ts';
import { type Bill, NO_USAGE, type Usage } from '../../ir/usage.ts';
import type { Uncharged } from '../../ports/ledger.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import { type BillingFacts, billGeneration, billSearches } from './bill-generation.ts';

/** What a leg, or a whole generation, has used, and what that costs. */
export interface UsedSoFar {
  readonly usage: Usage;
  readonly bill: Bill;
}

/** What a leg, or a whole generation, has come to. */
export interface Account extends UsedSoFar {
  /** What the upstream may bill beyond that; absent = nothing. */
  readonly uncharged?: Uncharged | undefined;
}

/** How an answer ended: by itself, in the middle (the caller left, or the money did), or with a failure. */
export type AnswerEnd = 'whole' | 'cut' | GatewayError;

/** What the account of a leg is made from besides its answer. */
export interface LegAccountFacts {
  /** Who serves, once there is content. */
  readonly selected: Candidate | undefined;
  /** Who was called last, whatever came of it. */
  readonly called: Candidate | undefined;
  /** Tokens of the prompt, about. */
  readonly promptTokens: number;
  readonly billing: BillingFacts;
  /** What an upstream reported, unless it cannot be true. */
  readonly believe: (reported: Usage | undefined) => Usage | undefined;
  /** What an upstream delivered before it failed is charged: it was whole by itself. */
  readonly chargesParts: boolean;
  /** Counts what an upstream did not report. */
  readonly estimate: (result: Result) => Promise<Usage>;
}

/** The account of a leg: what its upstream reports if it reports all of it, else our own count. */
export async function legAccount(result: Result, end: AnswerEnd, facts: LegAccountFacts): Promise<Account> {
  if (end !== 'whole') return cutAccount(result, end === 'cut' ? undefined : end, facts);
  const reported = facts.believe(result.usage);
  if (reported?.source !== 'measured') return estimatedAccount(result, reported, facts);
  return accountFor(reported, result, facts);
}

/** Prices a usage. What the upstream reported beyond it is disputed: it may bill that all the same. */
function accountFor(usage: Usage, result: Result, facts: LegAccountFacts): Account {
  const bill = billFor(usage, result, facts);
  if (result.usage === undefined || result.usage === usage) return { usage, bill };
  const beyond = billFor(result.usage, result, facts).totalNanos - bill.totalNanos;
  return beyond > 0n ? { usage, bill, uncharged: { nanos: beyond, cause: 'disputed' } } : { usage, bill };
}

/** The account of an answer whose upstream did not say what it used, or not of all of it. */
async function estimatedAccount(
  result: Result,
  reported: Usage | undefined,
  facts: LegAccountFacts,
): Promise<Account> {
  return accountFor(atLeast(reported, await facts.estimate(result)), result, facts);
}

/** The account of an answer that was cut off. */
async function cutAccount(
  result: Result,
  failure: GatewayError | undefined,
  facts: LegAccountFacts,
): Promise<Account> {
  const reported = facts.believe(result.usage);
  if (isBlank(result)) {
    const usage = reported ?? NO_USAGE;
    return { usage, bill: FREE, uncharged: failure === undefined ? abandoned(usage, facts) : undefined };
  }
  const account = await estimatedAccount(result, reported, facts);
  const isCharged = failure === undefined || facts.chargesParts || isOurs(failure);
  return isCharged ? account : { usage: account.usage, bill: searchBill(account.usage, facts) };
}

/** What was not said is not charged; the upstream has read the prompt all the same, and may bill that. */
function abandoned(
  reported: Usage,
  { called, billing, promptTokens }: LegAccountFacts,
): Uncharged | undefined {
  if (called === undefined) return undefined;
  const usage = reported.source === 'none' ? { ...reported, inputTokens: promptTokens } : reported;
  const { totalNanos: nanos } = billGeneration(called, usage, billing);
  return nanos === 0n ? undefined : { nanos, cause: 'abandoned' };
}

/** Both together. Of two causes the one that costs more is named. */
export function plusUncharged(
  one: Uncharged | undefined,
  other: Uncharged | undefined,
): Uncharged | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { nanos: one.nanos + other.nanos, cause: one.nanos >= other.nanos ? one.cause : other.cause };
}

/** Of an answer that its upstream broke off: tokens are free, searches that were run are not. */
function searchBill({ webSearchRequests }: Usage, { selected, billing }: LegAccountFacts): Bill {
  return billSearches(selected, webSearchRequests, billing);
}

/** The gateway's own time limits or its end: the upstream did nothing wrong, and what it wrote was passed on. */
function isOurs(error: GatewayError): boolean {
  return error instanceof UpstreamFailure ? error.isCutByUs : OUR_KINDS.has(error.kind);
}

const OUR_KINDS: ReadonlySet<GatewayError['kind']> = new Set(['deadline', 'overloaded']);

/**
 * What an upstream had reported in the middle of its answer says nothing of what came after: our own count may be
 * higher. No tokens at all were a beginning, not a count.
 */
function atLeast(reported: Usage | undefined, estimated: Usage): Usage {
  if (reported === undefined || reported.inputTokens + reported.outputTokens === 0) return estimated;
  const outputTokens = Math.max(reported.outputTokens, estimated.outputTokens);
  const webSearchRequests = Math.max(reported.webSearchRequests, estimated.webSearchRequests);
  if (outputTokens === reported.outputTokens && webSearchRequests === reported.webSearchRequests)
    return reported;
  return { ...reported, outputTokens, webSearchRequests, source: 'estimated' };
}

/** No output and nothing that explains it: not charged. */
function billFor(usage: Usage, result: Result, { selected, billing }: LegAccountFacts): Bill {
  const isUnexplained =
    isBlank(result) && usage.outputTokens === 0 && result.finish?.nativeReason === undefined;
  return isUnexplained ? FREE : billGeneration(selected, usage, billing, result.finish?.serviceTier);
}
