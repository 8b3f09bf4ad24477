import { GatewayError } from '../../../ir/errors.ts';

/** Failures of answers that the upstream did not report itself. */

/** The bytes of a stream ended before the answer did. */
export function endedEarly(): GatewayError {
  return new GatewayError(
    'upstream-unavailable',
    'The provider ended the stream before the answer was complete',
  );
}

/** A whole body without an answer or an error in it. */
export function unreadableAnswer(): GatewayError {
  return new GatewayError('upstream-unavailable', 'The provider sent an answer that could not be read');
}

/** The same for dialects whose answers are one message. */
export function noMessage(): GatewayError {
  return new GatewayError('upstream-unavailable', 'The provider sent an answer that is no message');
}
