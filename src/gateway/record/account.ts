import { FREE } from '../../catalog/prices/bill.ts';
import type { Amount } from '../../ir/amount.ts';
import type { LegStatus } from '../../ir/leg.ts';
import { type Bill, NO_USAGE, plusBill, plusUsage, type Usage } from '../../ir/usage.ts';
import { notedFetches, notedSearches } from '../../ir/web-notes.ts';
import type { Charge } from '../admission/reservation.ts';
import { amountOf } from '../leg/bill-generation.ts';
import type { Leg } from '../leg/leg.ts';
import type { AttemptLog } from './attempt-log.ts';

export interface LegSoFar {
  readonly leg: Leg;
  readonly usage: Usage;
  readonly bill: Bill;
  readonly status: LegStatus;
}

/** Usage and cost of a generation: legs and charges together. */
export interface GenerationAccount {
  readonly usage: Usage;
  readonly bill: Bill;
  /** Use as the ledger counts it: legs with BYOK credentials separately. */
  readonly used: Amount;
}

/** The usage with what the gateway itself did: calls of server tools, and searches and pages of plugins. */
export function withOwnWork(
  usage: Usage,
  { toolCalls: calls, notes }: Pick<AttemptLog, 'toolCalls' | 'notes'>,
): Usage {
  if (calls.length + notes.length === 0) return usage;
  const ran = (name: string) => calls.filter((call) => call.name === name && call.end === 'ok').length;
  const ownSearches = ran('web_search') + notedSearches(notes);
  const ownFetches = ran('web_fetch') + (notedFetches(notes) ?? 0);
  const toolCalls = { requested: calls.length, executed: calls.filter(({ isRun }) => isRun).length };
  return {
    ...usage,
    ...(calls.length > 0 && { toolCalls }),
    ...(ownSearches > 0 && { ownSearches }),
    ...(ownFetches > 0 && { ownFetches }),
  };
}

export function accountOf(legs: readonly LegSoFar[], charges: readonly Charge[]): GenerationAccount {
  let usage = NO_USAGE;
  let bill = FREE;
  let byokNanos = 0n;
  for (const leg of legs) {
    usage = plusUsage(usage, leg.usage);
    bill = plusBill(bill, leg.bill);
    byokNanos += amountOf(leg.bill).byokNanos;
  }
  if (charges.length > 0) {
    const charged = charges.reduce((sum, { nanos }) => sum + nanos, 0n);
    bill = { ...bill, totalNanos: bill.totalNanos + charged };
  }
  return { usage, bill, used: { creditNanos: bill.totalNanos, byokNanos } };
}
