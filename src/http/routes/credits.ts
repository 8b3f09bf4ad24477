import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import { creditsSchema } from '../../contract/workspaces/credits.ts';
import { GatewayError } from '../../ir/errors.ts';
import { usdOf } from '../../kit/money.ts';
import type { Route } from '../route.ts';
import { callerOf, errors, MANAGEMENT, managementRefusals, NOTHING_DECLARED, ok } from './row-parts.ts';

const CREDITS = { ...MANAGEMENT, tag: 'Credits' } as const;

/** The balance of an account. */
export const CREDIT_ROUTES: readonly Route[] = [
  {
    ...CREDITS,
    method: 'GET',
    path: '/credits',
    operationId: 'getCredits',
    summary: 'The balance of the account',
    request: NOTHING_DECLARED,
    responses: { 200: ok(creditsSchema), ...managementRefusals() },
    handler: async (call) => {
      const { usedNanos, leftNanos } = await call.services.credits.of(callerOf(call).accountId);
      call.exchange.reply.json(200, {
        data: {
          total_credits: leftNanos === null ? 0 : usdOf(usedNanos + leftNanos),
          total_usage: usdOf(usedNanos),
        },
      });
    },
  },
  {
    ...CREDITS,
    auth: 'none',
    // Gone whatever its query holds.
    rateClass: 'public',
    method: 'POST',
    path: '/credits/coinbase',
    operationId: 'createCoinbaseCharge',
    summary: 'Removed: credits are granted by the operator',
    request: NOTHING_DECLARED,
    responses: errors(errorEnvelopeSchema, [410, 500]),
    handler: () => {
      throw new GatewayError(
        'gone',
        'Credits cannot be bought here: the operator of this gateway grants them',
      );
    },
  },
];
