import { GatewayError } from '../../ir/errors.ts';

/** A refusal for now: the same request may pass a second later. */
export function unavailable(message: string): GatewayError {
  return new GatewayError('overloaded', message, { retryAfterSeconds: 1 });
}
