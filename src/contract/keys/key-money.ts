import Type, { type Static } from 'typebox';
import { oneOf } from '../../kit/json/schema.ts';
import { type Nanos, usdOf } from '../../kit/money.ts';
import { type LimitWindow, RESET_WINDOWS, type ResetWindow } from '../../kit/time/windows.ts';
import { nullable } from '../values/nullable.ts';

const usd = Type.Number({ minimum: 0 });

/** Limit and usage of a key: members of every object that shows them, USD. */
export const KEY_MONEY = {
  limit: nullable(usd, { description: 'The most that the key may spend, USD; null = no limit of its own.' }),
  limit_remaining: nullable(usd, {
    description: 'What is left of it in the current window, requests in flight not counted.',
  }),
  limit_reset: nullable(oneOf(RESET_WINDOWS), {
    description: 'When the limit resets (UTC, weeks on Monday); null = never.',
  }),
  include_byok_in_limit: Type.Boolean({
    description: 'What BYOK credentials served counts towards the limit, at its list price.',
  }),
  usage: usd,
  usage_daily: usd,
  usage_weekly: usd,
  usage_monthly: usd,
  byok_usage: usd,
  byok_usage_daily: usd,
  byok_usage_weekly: usd,
  byok_usage_monthly: usd,
};

const keyMoneySchema = Type.Object(KEY_MONEY);

type KeyMoneyMembers = Static<typeof keyMoneySchema>;

type Sums = Readonly<Record<LimitWindow, Nanos>>;

export interface SpendingKey {
  readonly key: {
    readonly limitNanos: Nanos | null;
    readonly limitReset: ResetWindow | null;
    readonly includeByokInLimit: boolean;
  };
  readonly spending: { readonly credit: Sums; readonly byok: Sums };
  /** Null = no limit. */
  readonly remainingNanos: Nanos | null;
}

export function keyMoney({ key, spending, remainingNanos }: SpendingKey): KeyMoneyMembers {
  const { credit, byok } = spending;
  return {
    limit: usdOrNull(key.limitNanos),
    limit_remaining: usdOrNull(remainingNanos),
    limit_reset: key.limitReset,
    include_byok_in_limit: key.includeByokInLimit,
    usage: usdOf(credit.lifetime),
    usage_daily: usdOf(credit.daily),
    usage_weekly: usdOf(credit.weekly),
    usage_monthly: usdOf(credit.monthly),
    byok_usage: usdOf(byok.lifetime),
    byok_usage_daily: usdOf(byok.daily),
    byok_usage_weekly: usdOf(byok.weekly),
    byok_usage_monthly: usdOf(byok.monthly),
  };
}

function usdOrNull(nanos: Nanos | null): number | null {
  return nanos === null ? null : usdOf(nanos);
}
