import { GatewayError } from '../../ir/errors.ts';
import { usdOf } from '../../kit/money.ts';
import { callerOf } from './caller-of.ts';
import type { Handler } from './route.ts';

/** `GET /credits`. */
export const showCredits: Handler = async (call) => {
  const { usedNanos, leftNanos } = await call.services.credits.of(callerOf(call).accountId);
  call.exchange.reply.json(200, {
    data: {
      total_credits: leftNanos === null ? 0 : usdOf(usedNanos + leftNanos),
      total_usage: usdOf(usedNanos),
    },
  });
};

/** `POST /credits/coinbase`. */
export const refusePurchase: Handler = () => {
  throw new GatewayError('gone', 'Credits cannot be bought here: the operator of this gateway grants them');
};
