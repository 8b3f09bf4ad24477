import type { WireMessage } from './wire.ts';

/** A message on its way through the relay lane, and where in the caller's list it stood. */
export interface PlacedMessage {
  readonly message: WireMessage;
  readonly index: number;
}
