import { creditsSchema } from '../contract/workspaces/credits.ts';
import { usdOf } from '../kit/money.ts';
import { endpoint } from './endpoint.ts';
import { MANAGEMENT } from './endpoint-parts.ts';

export const GET_CREDITS = endpoint({
  ...MANAGEMENT,
  tag: 'Credits',
  method: 'GET',
  path: '/credits',
  operationId: 'getCredits',
  summary: 'The balance of the account',
  permission: 'credits.read',
  reply: creditsSchema,
  run: async ({ services, caller }) => {
    const { usedNanos, leftNanos } = await services.credits.of(caller.accountId);
    return {
      data: {
        total_credits: leftNanos === null ? 0 : usdOf(usedNanos + leftNanos),
        total_usage: usdOf(usedNanos),
      },
    };
  },
});
