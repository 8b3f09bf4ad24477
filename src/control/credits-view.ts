import { usdOf } from '../kit/money.ts';
import type { AccountBalance } from '../manage/accounts/credits.ts';
import type { Account } from '../ports/tenancy.ts';

/** The balance of an account, USD. Settled money only. */
export interface CreditsView {
  readonly account: string;
  readonly account_id: string;
  /** Null = not enforced. */
  readonly left_usd: number | null;
  readonly used_usd: number;
}

/** A balance with the name of its account. */
export function creditsView({ id, name }: Account, { usedNanos, leftNanos }: AccountBalance): CreditsView {
  return {
    account: name,
    account_id: id,
    left_usd: leftNanos === null ? null : usdOf(leftNanos),
    used_usd: usdOf(usedNanos),
  };
}
