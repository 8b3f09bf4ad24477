import { GatewayError } from '../../../ir/errors.ts';

/**
 * The failure of an answer that cannot be read, or not to its end, although its upstream has not said that it failed:
 * it may have made a whole answer, and bill that.
 */
export class BrokenAnswer extends GatewayError {
  constructor(message: string) {
    super('upstream-unavailable', message);
  }
}

/** The bytes of a stream ended before the answer did. */
export function endedEarly(): BrokenAnswer {
  return new BrokenAnswer('The provider ended the stream before the answer was complete');
}

/** A whole body without an answer or an error in it. */
export function unreadableAnswer(): BrokenAnswer {
  return new BrokenAnswer('The provider sent an answer that could not be read');
}

/** `unreadableAnswer` for dialects whose answers are one message. */
export function noMessage(): BrokenAnswer {
  return new BrokenAnswer('The provider sent an answer that is no message');
}
