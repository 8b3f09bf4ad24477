import { FREE } from '../../catalog/prices/bill.ts';
import { type Amount, NOTHING, plus } from '../../ir/amount.ts';
import type { LegStatus, ToolCallRecord } from '../../ir/leg.ts';
import { type Bill, NO_USAGE, plusBill, plusUsage, type Usage } from '../../ir/usage.ts';
import type { Charge } from '../admission/reservation.ts';
import { amountOf } from '../leg/bill-generation.ts';
import type { Leg } from '../leg/leg.ts';

/** A leg with its usage and bill, so far or final. */
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
  /** As the ledger counts it: legs with BYOK credentials separately. */
  readonly used: Amount;
}

/** The usage with the counts of calls of server tools. */
export function withToolCalls(usage: Usage, calls: readonly ToolCallRecord[]): Usage {
  if (calls.length === 0) return usage;
  const ran = (name: string) => calls.filter((call) => call.name === name && call.end === 'ok').length;
  const toolCalls = {
    requested: calls.length,
    executed: calls.filter(({ isRun }) => isRun).length,
    searches: ran('web_search'),
    fetches: ran('web_fetch'),
  };
  return { ...usage, toolCalls };
}

export function accountOf(legs: readonly LegSoFar[], charges: readonly Charge[]): GenerationAccount {
  let usage = NO_USAGE;
  let bill = FREE;
  let used = NOTHING;
  for (const leg of legs) {
    usage = plusUsage(usage, leg.usage);
    bill = plusBill(bill, leg.bill);
    used = plus(used, amountOf(leg.bill));
  }
  if (charges.length === 0) return { usage, bill, used };
  const charged = charges.reduce((sum, { nanos }) => sum + nanos, 0n);
  return {
    usage,
    bill: { ...bill, totalNanos: bill.totalNanos + charged },
    used: plus(used, { creditNanos: charged, byokNanos: 0n }),
  };
}
