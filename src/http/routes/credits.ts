import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { GatewayError } from '../../ir/errors.ts';
import { type Route, route } from '../route.ts';
import { errors, NOTHING_DECLARED } from './row-parts.ts';

export const REMOVED_CREDIT_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    mount: 'api',
    path: '/credits/coinbase',
    operationId: 'createCoinbaseCharge',
    summary: 'Removed: credits are granted by the operator',
    tag: 'Credits',
    permission: 'interface.read',
    // Gone whatever its query holds.
    rateClass: 'public',
    request: NOTHING_DECLARED,
    responses: errors(errorEnvelopeSchema, [410, 500]),
    encodeError: encodeEnvelope,
    handler: () => {
      throw new GatewayError(
        'gone',
        'Credits cannot be bought here: the operator of this gateway grants them',
      );
    },
  }),
];
